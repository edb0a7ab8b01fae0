/** Where services put a message for people, the most telling member first. */
const members = ['message', 'error_description', 'detail', 'title', 'reason', 'msg', 'description'] as const;
/** Members that hold a text, or an object or list with the members above. A code is better than nothing. */
const nested = ['error', 'errors', 'code'] as const;
/** How deep to look for errors inside errors. */
const maxDepth = 3;

/**
 * The texts in a reply, the most telling first: the usual members of a JSON error, otherwise the title or the start of
 * a page, or the text itself. Neither bounded nor redacted.
 */
export function replyTexts(body: unknown): string[] {
  if (typeof body === 'string') return textsOf(pageText(body));
  return textsIn(body, 0);
}

function textsIn(value: unknown, depth: number): string[] {
  if (typeof value === 'string') return textsOf(value);
  if (typeof value !== 'object' || value === null || depth > maxDepth) return [];
  if (Array.isArray(value)) return textsIn(value[0], depth + 1);
  const object: { readonly [name: string]: unknown } = { ...value };
  const own = members.flatMap((name) => {
    const text = object[name];
    return typeof text === 'string' ? textsOf(text) : [];
  });
  return [...own, ...nested.flatMap((name) => textsIn(object[name], depth + 1))];
}

function textsOf(text: string): string[] {
  return text.trim() === '' ? [] : [text];
}

function pageText(text: string): string {
  if (!/^\s*<(?:!doctype|html|head|body|\?xml|title|h1)\b/i.test(text)) return text;
  const title = /<title[^<>]*>([^<]*)/i.exec(text)?.[1]?.trim();
  if (title !== undefined && title !== '') return title;
  return text.replace(/<(script|style)\b[\s\S]*?(?:<\/\1>|$)/gi, ' ').replace(/<[^<>]*>/g, ' ');
}
