import type { RuleResult } from '../report/results.js';

/** A line that is written over while the run goes on; nothing where the stream is no terminal. */
export function createProgress(stream: NodeJS.WriteStream): {
  readonly show: (result: RuleResult, done: number, total: number) => void;
  readonly clear: () => void;
} {
  if (stream.isTTY !== true) return { show: () => undefined, clear: () => undefined };
  let broken = 0;
  return {
    show: (result, done, total) => {
      if (result.verdict === 'fail' || result.verdict === 'error') broken += 1;
      const width = 30;
      const full = Math.round((done / total) * width);
      stream.write(
        `\r${'█'.repeat(full)}${'░'.repeat(width - full)} ${done}/${total}${broken > 0 ? `, ${broken} broken` : ''}\x1b[K`,
      );
    },
    clear: () => stream.write('\r\x1b[K'),
  };
}
