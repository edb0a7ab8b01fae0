/** What a body is, and with it the key that signs it. */
export const purposeFlag = {
  kind: 'enum',
  values: ['order', 'general'],
  brief: 'order: orders and their events; general: everything else',
  default: 'order',
} as const;

export const merchantFlag = {
  kind: 'parsed',
  parse: String,
  placeholder: 'name',
  brief: 'Which merchant signs, if there are several',
  optional: true,
} as const;
