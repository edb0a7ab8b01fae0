/** Why the sandbox does not do what a request asks; answered as `{ error: code, message }`. Not public. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: string, message: string, headers?: Readonly<Record<string, string>>) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers ?? {};
  }
}
