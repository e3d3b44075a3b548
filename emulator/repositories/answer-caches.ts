import { BlameMemory } from '../git/blame/blame-memory.js';
import { type CacheGroup, type CacheRegion, costOfBuffer } from '../memory/memory-cache.js';

/**
 * Answers that follow from commits alone, by their ids. So what is kept for a repository serves its forks as well, and the other
 * way round.
 */
export class AnswerCaches {
  private blameMemory: BlameMemory | undefined;
  private metadataTexts: CacheRegion<string, Buffer> | undefined;

  constructor(private readonly group: CacheGroup) {}

  get blames(): BlameMemory {
    this.blameMemory ??= new BlameMemory(this.group);
    return this.blameMemory;
  }

  /** Answers of file metadata. */
  get metadata(): CacheRegion<string, Buffer> {
    this.metadataTexts ??= this.group.region(costOfBuffer);
    return this.metadataTexts;
  }

  /** Answers of another kind, which is the same object each time. `costOf` is asked once of each. */
  ofKind<Answer>(kind: object, costOf: (answer: Answer) => number): CacheRegion<string, Answer> {
    return this.group.shared(kind, () => this.group.region<string, Answer>(costOf));
  }

  hold(): this {
    this.group.hold();
    return this;
  }

  /** Lets all of it go with the last that holds it. */
  release(): void {
    this.group.close();
  }
}
