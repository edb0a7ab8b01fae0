/** A transfer as it is kept in its record, `done/<id>`. */
export interface Transfer {
  readonly from: string;
  readonly to: string;
  readonly amount: number;
}

export const accounts = ['0', '1', '2', '3', '4', '5', '6', '7'].map((name) => `account/${name}`);
