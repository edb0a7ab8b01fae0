/** What the suite uses of a module that is in workerd alone. */
declare module 'cloudflare:node' {
  /** Hands a request to the server of node:http that listens on a port. */
  export function handleAsNodeRequest(port: number, request: Request): Promise<Response>;
}
