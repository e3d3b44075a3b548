/** Generator of random files and edits for which line diffs are ambiguous. The same seed produces the same values. */
export class RandomText {
  constructor(private seed: number) {}

  /** Returns an integer from 0 to `limit` - 1. */
  below(limit: number): number {
    this.seed = (Math.imul(this.seed, 1_103_515_245) + 12_345) >>> 0;
    return (this.seed >>> 8) % Math.max(1, limit);
  }

  pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)]!;
  }

  lines(): string[] {
    const fixed = [
      '',
      '',
      '}',
      '  }',
      '\t',
      '  return x;',
      'if (a) {',
      '    foo();',
      '      bar',
      'class A',
      '\r',
      'x  y',
      'x y ',
    ];
    const own = Array.from({ length: 1 + this.below(40) }, (_, index) => `${' '.repeat(this.below(9))}line ${index}`);
    const vocabulary = [...fixed.slice(0, this.below(fixed.length)), ...own];
    const count = this.below(12) === 0 ? this.below(3000) : this.below(120);
    return Array.from({ length: count }, () => this.pick(vocabulary) + (this.below(50) === 0 ? '\r' : ''));
  }

  edit(lines: readonly string[]): string[] {
    const result = [...lines];
    const edits = this.below(6) === 0 ? this.below(lines.length + 1) : this.below(20);
    for (let count = 0; count < edits; count++) {
      const at = this.below(result.length + 1);
      const size = this.below(8);
      const kind = this.below(4);
      if (kind === 0) result.splice(at, size);
      else if (kind === 1) result.splice(at, 0, ...result.slice(this.below(result.length + 1)).slice(0, size));
      else if (kind === 2) result.splice(at, 1, `${result[this.below(result.length)] ?? 'z'}${this.pick(['', '  '])}`);
      else result.splice(at, size, ...this.lines().slice(0, size));
    }
    return result;
  }

  /** Joins lines into a file. The final line feed is missing in a fifth of the files. */
  file(lines: readonly string[]): string {
    return lines.join('\n') + (this.below(5) === 0 ? '' : '\n');
  }

  binary(): string {
    return Array.from({ length: this.below(3000) }, () => String.fromCharCode(this.below(256))).join('');
  }
}
