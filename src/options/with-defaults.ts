/** Options in which those that have a default are always set. */
export type WithDefaults<Options, Defaults> = Omit<Options, keyof Defaults> & {
  readonly [Name in keyof Options & keyof Defaults]-?: Exclude<Options[Name], undefined>;
};

/** A copy of the options, with the default where one is absent or `undefined`. */
export function withDefaults<Options extends object, Defaults extends Partial<Options>>(
  options: Options,
  defaults: Defaults,
): WithDefaults<Options, Defaults> {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  // Sound: what is absent or undefined in the options comes from the defaults.
  return { ...defaults, ...Object.fromEntries(given) } as WithDefaults<Options, Defaults>;
}
