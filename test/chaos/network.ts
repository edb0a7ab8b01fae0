import type { Machine } from './machine.ts';
import type { World } from './world.ts';

/** The network as a process of the partner has it: what leaves goes to the service. */
export function clientFetch(world: World, machine: Machine): typeof fetch {
  const { simulation } = world;
  const random = simulation.stream(`network ${machine.name}`);
  return async (input, init) => {
    const request = new Request(input, init);
    const signal = init?.signal ?? request.signal;
    const fault = world.drawFault('network', machine);
    const wayMs = () => (fault === 'slow' ? random.fraction() * 12_000 : random.fraction() * 40);
    simulation.log(
      `${request.method} ${new URL(request.url).pathname}${fault === undefined ? '' : ` [${fault}]`}`,
    );
    const work = async () => {
      await simulation.delay(wayMs(), machine);
      if (fault === 'refused') throw failure('ECONNREFUSED');
      // Read when the connection is there, as Node's fetch does.
      const body = request.body === null ? undefined : await request.text();
      await simulation.delay(0, machine);
      signal.throwIfAborted();
      if (fault === 'reset-before') throw failure('ECONNRESET');
      if (fault === 'dies-before') return world.die(machine, 'while it sends');
      await simulation.delay(wayMs(), undefined);
      const { method, headers, url } = request;
      // Aborted by the service's own code: what its listeners set must not die with the caller.
      const closed = new AbortController();
      const close = () => simulation.within(world.service, () => closed.abort(signal.reason));
      signal.addEventListener('abort', close);
      if (signal.aborted) close();
      const reply = await simulation.within(world.service, () =>
        world.sandbox.fetch(url, {
          method,
          headers,
          signal: closed.signal,
          ...(body !== undefined && { body }),
        }),
      );
      if (fault === 'dies-after') return world.die(machine, 'while the service answers');
      await simulation.delay(wayMs(), machine);
      if (fault === 'reset-after') throw failure('ECONNRESET');
      return asSent(world, reply);
    };
    return await unlessAborted(signal, work());
  };
}

/** A reply whose body the service goes on to write, by its own clock. */
function asSent({ simulation, service }: World, reply: Response): Response {
  if (reply.body === null) return reply;
  const reader = reply.body.getReader();
  const body = new ReadableStream<Uint8Array>(
    {
      pull: (controller) =>
        simulation.within(service, async () => {
          const { done, value } = await reader.read();
          if (done) controller.close();
          else controller.enqueue(value);
        }),
      cancel: (reason) => simulation.within(service, () => reader.cancel(reason)),
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { status: reply.status, headers: reply.headers });
}

/** The network as the service has it: events go to one of the partner's processes. */
export function callbackFetch(world: World): typeof fetch {
  const { simulation } = world;
  const random = simulation.stream('network of the service');
  return async (input, init) => {
    const request = new Request(input, init);
    const text = await request.text();
    const target = world.isDown ? undefined : world.route();
    if (target === undefined) {
      world.books.answer(text, 0);
      throw failure('ECONNREFUSED');
    }
    const { machine } = target;
    const fault = world.drawFault('network', machine);
    const wayMs = () => (fault === 'slow' ? random.fraction() * 12_000 : random.fraction() * 40);
    const work = async () => {
      const dead = Promise.withResolvers<never>();
      const forget = machine.onDeath(() => dead.reject(failure('ECONNRESET')));
      dead.promise.catch(() => {});
      const answered = async () => {
        await simulation.delay(wayMs(), machine);
        if (fault === 'refused' || fault === 'reset-before') throw failure('ECONNRESET');
        if (fault === 'dies-before') world.die(machine, 'while an event arrives');
        const { url, headers } = request;
        const begun = simulation.timeOf(machine);
        const given = new Request(url, { method: 'POST', headers, body: text });
        const response = await simulation.within(machine, () => target.webhooks.fetch(given));
        const tookMs = simulation.timeOf(machine) - begun;
        world.books.received(text, { status: response.status, machine, begun, tookMs });
        simulation.log(`${machine.name} answers ${response.status} after ${Math.round(tookMs)} ms`);
        if (fault === 'dies-after') {
          world.die(machine, 'before its answer leaves');
        }
        await simulation.delay(wayMs(), world.service);
        if (fault === 'reset-after') throw failure('ECONNRESET');
        return response;
      };
      try {
        return await Promise.race([answered(), dead.promise]);
      } finally {
        forget();
      }
    };
    try {
      const response = await unlessAborted(init?.signal ?? request.signal, work());
      world.books.answer(text, response.status);
      return response;
    } catch (error) {
      world.books.answer(text, 0);
      throw error;
    }
  };
}

/** Work that is given up goes on; nobody hears of it. */
async function unlessAborted<Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result> {
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(signal.reason);
  aborted.promise.catch(() => {});
  work.catch(() => {});
  signal.addEventListener('abort', onAbort);
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

function failure(code: 'ECONNREFUSED' | 'ECONNRESET'): TypeError {
  return new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) });
}
