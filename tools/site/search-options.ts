/** How the site is searched: of minisearch. The build writes these functions into the page, so each stands alone. */
export const searchOptions = {
  options: {
    /** A name such as `outcome_unknown` is one word, and its parts are words too. */
    tokenize: (text: string): string[] => {
      const names = text.match(/[\p{L}\p{N}]+(?:[_.-][\p{L}\p{N}]+)+/gu) ?? [];
      return [...names, ...(text.match(/[\p{L}\p{N}]+/gu) ?? [])];
    },
  },
  searchOptions: {
    fuzzy: 0.2,
    prefix: true,
    boost: { title: 8, titles: 1, text: 1 },
    /** These pages have a section for each name, which comes before longer names and other pages. */
    boostDocument: (id: string, term: string, { title }: { title?: unknown } = {}): number => {
      if (!/\/(?:errors|events|commands)\.html#/.test(id)) return 1;
      return `${title}`.toLowerCase() === term ? 9 : 3;
    },
  },
};
