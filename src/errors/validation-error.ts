import { kindOf, PartnerExchangeError } from './partner-exchange-error.ts';

/** What is wrong with one member of an input. Never holds the member's value. */
export interface ValidationIssue {
  /** Where it is, from the outermost member inwards; empty for the input as a whole. */
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** The input of a call does not fit. Thrown before anything is signed or sent. */
export class ValidationError extends PartnerExchangeError {
  readonly code = 'invalid_input' as const;
  readonly issues: readonly ValidationIssue[];

  constructor(subject: string, issues: readonly ValidationIssue[]) {
    super('ValidationError', `${subject}: ${issues.map(describe).join('; ')}`);
    this.issues = issues;
  }
}

/** True for a {@link ValidationError}, also of another copy of the package. */
export function isValidationError(error: unknown): error is ValidationError {
  return kindOf(error) === 'ValidationError';
}

function describe(issue: ValidationIssue): string {
  return issue.path.length === 0 ? issue.message : `${issue.path.join('.')}: ${issue.message}`;
}
