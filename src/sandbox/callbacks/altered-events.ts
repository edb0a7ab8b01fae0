import type { JsonObject } from '../../json/json-value.ts';
import type { SeededRandom } from '../seeded-random.ts';

/** A name that the contract does not publish; reported to exist. */
export const unfamiliarName = 'event.buy.error';

/** The body of an authentic event under a name that is not published. */
export function unfamiliarEvent(body: JsonObject): JsonObject {
  return { ...body, event_name: unfamiliarName, error_code: 'SANDBOX' };
}

/**
 * A body with members that are not published. Their names are those that careless code trips over: prototypes, names
 * that look like numbers, an empty one, our own `signature` one level down.
 */
export function withExtraMembers(body: JsonObject): JsonObject {
  return Object.assign(Object.create(null), body, {
    ['__proto__']: { is_admin: true },
    ...{ constructor: 'x', hasOwnProperty: 'x', toString: null, '': '', '0': 0 },
    extra_members: {
      signature: 'not this one',
      list: [1, 2.5, 1e21, { deep: [[[]]] }],
      text: 'é "\\/ \u2028 😀',
    },
  });
}

/** A key that nobody issued. */
export function foreignKey(random: SeededRandom): string {
  return Buffer.from(random.bytes(32)).toString('hex');
}

/**
 * A signed text whose amount was changed after signing, as somebody on the way would: one digit, so that nothing but
 * the signature tells.
 */
export function tamperedText(text: string): string {
  const amount = /("fiat_amount_to_pay"\s*:\s*)(\d)/;
  const changed = text.replace(
    amount,
    (_, name: string, digit: string) => name + (digit === '9' ? '8' : '9'),
  );
  // A deployment's own payload may have no amount: then the order id is changed.
  return changed === text ? text.replace(/("partner_order_id"\s*:\s*")/, '$1X') : changed;
}
