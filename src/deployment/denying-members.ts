import { isJsonObject } from '../internal/json.ts';

/** Whether a member of a reply denies what was asked for: of an object, or one object deeper, and in a list of objects. */
export function isDenial(body: unknown): boolean {
  const objects = [body].flat().filter(isJsonObject);
  return objects
    .flatMap((object) => [object, ...Object.values(object).filter(isJsonObject)])
    .flatMap((object) => Object.entries(object))
    .some(([name, value]) => {
      const known = denyingMember(name);
      return known !== undefined && denies[known](value);
    });
}

/** The member of the table that a name stands for. */
export function denyingMember(name: string): DenyingName | undefined {
  const plainName = name.toLowerCase().replaceAll(/[_-]/g, '');
  return denyingNames.find((each) => each.toLowerCase() === plainName);
}

/** Which values of a member deny what was asked for. */
const denies = {
  success: isFalse,
  ok: isFalse,
  isSuccess: isFalse,
  status: (value) => isFalse(value) || failureWords.includes(plainText(value)) || isErrorStatus(value),
  error: (value) => !isEmpty(value),
  errors: (value) => !isEmpty(value),
  code: isErrorStatus,
  statusCode: isErrorStatus,
  responseCode: (value) => value !== null && !successCodes.includes(plainText(value)),
} as const satisfies Readonly<Record<string, (value: unknown) => boolean>>;

type DenyingName = keyof typeof denies;
// Sound: the keys of the table.
const denyingNames = Object.keys(denies) as DenyingName[];

const failureWords = ['error', 'fail', 'failed', 'failure', 'rejected'];
const successCodes = ['0', '00', '000', '200'];

/** Services write `false` and `400` as text too. Empty for what is neither text, number nor boolean. */
function plainText(value: unknown): string {
  return ['string', 'number', 'boolean'].includes(typeof value) ? String(value).trim().toLowerCase() : '';
}

function isFalse(value: unknown): boolean {
  return plainText(value) === 'false';
}

function isErrorStatus(value: unknown): boolean {
  const status = Number(plainText(value));
  return Number.isInteger(status) && status >= 400 && status < 600;
}

function isEmpty(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return ['', 'false', '0'].includes(plainText(value));
}
