import { invalidOption } from '../options/check-values.ts';

/** Looks the columns of a template up, and returns what makes a line into a text. */
export type FillTemplate = (indexOf: (column: string) => number) => (record: readonly string[]) => string;

/**
 * Reads `Dear {name}`: a column in braces; `{{` and `}}` are braces. What a column holds is put in as it is.
 *
 * @throws {ConfigurationError} `invalid_option` for a brace without its other half
 */
export function readTemplate(template: string): FillTemplate {
  if (typeof template !== 'string' || template.trim() === '') throw invalidOption('template must be text.');
  const parts = template.match(/\{\{|\}\}|\{[^{}]+\}|[{}]|[^{}]+/g) ?? [];
  if (parts.some((part) => part === '{' || part === '}')) {
    throw invalidOption('template has a brace without its other half: write {{ or }} for a brace.');
  }
  return (indexOf) => {
    const pieces = parts.map((part) => {
      if (part === '{{' || part === '}}') return part.slice(1);
      return part.startsWith('{') ? indexOf(part.slice(1, -1).trim()) : part;
    });
    return (record) => pieces.map((piece) => (typeof piece === 'number' ? record[piece] : piece)).join('');
  };
}
