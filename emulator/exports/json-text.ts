/** The same text for the same value, in whatever order its members were set; the format comes first. */
export function jsonOf(value: object): string {
  const sorted = (_: string, member: unknown): unknown => {
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member;
    const entries = Object.entries(member).sort(([one], [other]) => (one < other ? -1 : 1));
    return Object.fromEntries(entries.sort(([one], [other]) => Number(other === 'format') - Number(one === 'format')));
  };
  return `${JSON.stringify(value, sorted, 1)}\n`;
}
