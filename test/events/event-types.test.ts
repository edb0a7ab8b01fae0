import { describe, expect, expectTypeOf, it } from 'vitest';
import * as z from 'zod';
import type {
  BuyCloseEvent,
  BuyCreditedEvent,
  BuyFiatReceivedEvent,
  BuyInitEvent,
  BuyKycErrorEvent,
  BuyThirdPartyErrorEvent,
} from '../../src/events/event-types.ts';
import {
  buyCloseEvent,
  type buyCreditedEvent,
  type buyFiatReceivedEvent,
  buyInitEvent,
  type buyKycErrorEvent,
  type buyThirdPartyErrorEvent,
  type OrderEvent,
  orderEvent,
} from '../../src/events/order-event.ts';
import { buyCloseBody, buyInitBody } from '../support/bodies.ts';

/** A type without the index signatures that a loose schema has at every level. */
type Named<Value> = Value extends string
  ? Value
  : Value extends object
    ? { [Name in keyof Value as string extends Name ? never : Name]: Named<Value[Name]> }
    : Value;

/** What the schema makes of a body, as far as it has names. */
type Checked<Schema extends z.ZodType> = Named<z.output<Schema>>;

describe('what a schema makes of a body is what the interface says, member by member', () => {
  // Named<…> on both sides lets an interface be compared with the plain object type that zod infers.
  it('init', () => {
    expectTypeOf<Checked<typeof buyInitEvent>>().toEqualTypeOf<Named<BuyInitEvent>>();
  });

  it('fiat received', () => {
    expectTypeOf<Checked<typeof buyFiatReceivedEvent>>().toEqualTypeOf<Named<BuyFiatReceivedEvent>>();
  });

  it('KYC error', () => {
    expectTypeOf<Checked<typeof buyKycErrorEvent>>().toEqualTypeOf<Named<BuyKycErrorEvent>>();
  });

  it('third-party error', () => {
    expectTypeOf<Checked<typeof buyThirdPartyErrorEvent>>().toEqualTypeOf<Named<BuyThirdPartyErrorEvent>>();
  });

  it('credited', () => {
    expectTypeOf<Checked<typeof buyCreditedEvent>>().toEqualTypeOf<Named<BuyCreditedEvent>>();
  });

  it('close', () => {
    expectTypeOf<Checked<typeof buyCloseEvent>>().toEqualTypeOf<Named<BuyCloseEvent>>();
  });

  it('any of them', () => {
    expectTypeOf<Checked<typeof orderEvent>>().toEqualTypeOf<Named<OrderEvent>>();
    expectTypeOf<z.output<typeof orderEvent>>().toExtend<OrderEvent>();
  });
});

describe('the type of an event', () => {
  it('has no index signature at any level', () => {
    type Levels = OrderEvent | BuyInitEvent['payer_into_account'] | BuyCloseEvent['meta_data'];
    expectTypeOf<string>().not.toExtend<keyof Levels>();
    expectTypeOf<BuyThirdPartyErrorEvent>().not.toHaveProperty('anything');
  });
});

describe('an exported schema', () => {
  it('can be extended with a member of the deployment', () => {
    const branded = buyInitEvent.extend({ acme_note: z.string() });
    const event = branded.parse(buyInitBody({ acme_note: 'kept', other: 1 }));
    expectTypeOf(event.acme_note).toEqualTypeOf<string>();
    expect(event).toMatchObject({ acme_note: 'kept', other: 1 });
    expect(branded.safeParse(buyInitBody()).success).toBe(false);
  });

  it('keeps the members that it does not know, also of nested objects', () => {
    const body = buyCloseBody({ channel: 'bank' });
    const nested = { ...body, payer_into_account: { ...Object(body.payer_into_account), branch: 'Ikeja' } };
    expect(buyCloseEvent.parse(nested)).toEqual(nested);
    expect(orderEvent.parse(nested)).toEqual(nested);
  });
});
