/**
 * The text that was made last: what is told of many requests in a row is then the same string, and not one for each of
 * them in the journal.
 */
export class LastText<Of> {
  private made: { readonly of: Of; readonly text: string } | undefined;

  constructor(private readonly write: (of: Of) => string) {}

  for(of: Of): string {
    if (this.made === undefined || this.made.of !== of) this.made = { of, text: this.write(of) };
    return this.made.text;
  }
}
