export interface ProxySettings {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `navigator.userAgent`: `Node.js/24`, `Bun/1.3.0`, `Deno/2.5.0`. */
  readonly userAgent: string;
  /** `process.execArgv`. */
  readonly flags: readonly string[];
  /** The constructor's name of undici's global dispatcher, which Node's fetch uses; `undefined` if there is none yet. */
  readonly dispatcher: string | undefined;
}

/**
 * The environment variable or the global dispatcher that would take an `http:` request to this URL to a proxy. Node
 * does so if it is told to (`NODE_USE_ENV_PROXY`, `--use-env-proxy`), Bun and Deno always. A `fetch` given to a
 * client is not examined.
 *
 * Runtimes read `NO_PROXY` in different ways, so only an entry that all of them understand counts.
 */
export function environmentProxy(url: URL, settings: ProxySettings = currentSettings()): string | undefined {
  const { env, userAgent, dispatcher = '' } = settings;
  const isNode = !/^(?:Bun|Deno)\//.test(userAgent);
  if (isNode && !usesEnvironment(settings)) {
    return /ProxyAgent$/.test(dispatcher) ? `the global dispatcher, a ${dispatcher},` : undefined;
  }
  const isDeno = userAgent.startsWith('Deno/');
  const [proxy, noProxy] = isDeno
    ? [['HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'], env.NO_PROXY ?? env.no_proxy]
    : [[env.http_proxy === undefined ? 'HTTP_PROXY' : 'http_proxy'], env.no_proxy ?? env.NO_PROXY];
  const name = proxy.find((one) => (env[one] ?? '') !== '');
  return name === undefined || isExempt(url, noProxy ?? '', isNode) ? undefined : name;
}

/**
 * Whether Node's fetch may take a request to a proxy now. A dispatcher over the environment can have variables of its own
 * (`http.setGlobalProxyFromEnv({ … })`), so that ours do not tell.
 */
export function mayTakeProxy(settings: ProxySettings = currentSettings()): boolean {
  if (/^(?:Bun|Deno)\//.test(settings.userAgent)) return false;
  return usesEnvironment(settings) || /proxy/i.test(settings.dispatcher ?? '');
}

/**
 * The environment variable that names a proxy for this URL, if Node's fetch does not read it: it does only if it is told
 * to. `undefined` where the runtime reads it, or where another dispatcher is in use.
 */
export function unreadProxy(url: URL, settings: ProxySettings = currentSettings()): string | undefined {
  const { env, userAgent, dispatcher = 'Agent' } = settings;
  if (!userAgent.startsWith('Node.js/') || dispatcher !== 'Agent' || usesEnvironment(settings))
    return undefined;
  const own = url.protocol === 'https:' ? ['HTTPS_PROXY', 'https_proxy'] : ['HTTP_PROXY', 'http_proxy'];
  const name = [...own, 'ALL_PROXY', 'all_proxy'].find((one) => (env[one] ?? '') !== '');
  return name === undefined || isExempt(url, env.no_proxy ?? env.NO_PROXY ?? '', true) ? undefined : name;
}

function usesEnvironment({ env, flags, dispatcher }: ProxySettings): boolean {
  const options = [...flags, ...(env.NODE_OPTIONS ?? '').split(/\s+/)];
  return (
    env.NODE_USE_ENV_PROXY === '1' ||
    options.includes('--use-env-proxy') ||
    dispatcher === 'EnvHttpProxyAgent'
  );
}

function isExempt({ hostname, host }: URL, noProxy: string, isNode: boolean): boolean {
  if (noProxy.trim() === '*') return true;
  const entries = noProxy.toLowerCase().split(isNode ? /[\s,]+/ : /\s*,\s*/);
  // Node compares addresses of IPv6 in brackets, the others bare.
  const own = isNode ? [hostname, host] : [hostname, hostname.replace(/^\[|\]$/g, '')];
  return entries.some((entry) => own.includes(entry));
}

function currentSettings(): ProxySettings {
  const process: Partial<NodeJS.Process> = globalThis.process ?? {};
  // Every copy of undici, also Node's own, uses these symbols.
  const names = [1, 2].map((version) => {
    const dispatcher: unknown = Reflect.get(globalThis, Symbol.for(`undici.globalDispatcher.${version}`));
    return typeof dispatcher === 'object' && dispatcher !== null ? dispatcher.constructor?.name : undefined;
  });
  return {
    env: process.env ?? {},
    flags: process.execArgv ?? [],
    userAgent: globalThis.navigator?.userAgent ?? '',
    dispatcher: names.find((name) => /proxy/i.test(name ?? '')) ?? names[0],
  };
}
