/** Bodies to examine, as positional arguments. */
export const samples = {
  kind: 'array',
  parameter: {
    brief: 'Raw bodies, saved deliveries, or folders of them (default: stdin)',
    placeholder: 'file',
    parse: String,
  },
} as const;
