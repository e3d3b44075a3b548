/**
 * Caches the text for the latest value of `of`. Consecutive requests with the same reason then share one string in the
 * journal, which saves memory.
 */
export class MemoizedText<Of> {
  private made: { readonly of: Of; readonly text: string } | undefined;

  constructor(private readonly write: (of: Of) => string) {}

  for(of: Of): string {
    if (this.made === undefined || this.made.of !== of) this.made = { of, text: this.write(of) };
    return this.made.text;
  }
}
