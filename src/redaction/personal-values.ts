/** Members that speak of a person. */
const personalName = /phone|mail|name|account|device/i;

/**
 * What a request says of a person, so that no message repeats it: the members of its body, at any depth, whose names
 * tell, and all values of its query. Phone numbers without their `+`, as services often write them. A value of one to
 * three characters is left: hiding it would take such characters out of every text.
 *
 * @param body JSON
 */
export function personalValues({ url, body }: { url: string; body?: string | undefined }): string[] {
  const found = [...new URL(url).searchParams.values()];
  if (body !== undefined) {
    JSON.parse(body, (name, value: unknown) => {
      if (personalName.test(name) && (typeof value === 'string' || typeof value === 'number'))
        found.push(String(value));
      return value;
    });
  }
  return found.map((value) => value.replace(/^\+/, '')).filter((value) => value.length > 3);
}
