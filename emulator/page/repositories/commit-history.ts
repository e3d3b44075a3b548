import type { GraphCommit } from '@emulator/admin/repository-history.js';
import { get, type Page, type QueryValue } from '../api/client.js';
import { GraphLayout } from './graph-layout.js';

/** Commits of a page, and how far before the last one the next is asked for. */
const PAGE = { size: 1_000, ahead: 200 };

/** The commits of a graph, which come page by page as they are looked at, and the lines between them. */
export class CommitHistory {
  readonly commits: GraphCommit[] = [];
  readonly layout = new GraphLayout();
  /** Of all pages; undefined until the first one is there. */
  total: number | undefined;
  error: unknown;

  readonly #abort = new AbortController();
  #cursor: string | null | undefined;
  #isLoading = false;
  #wanted = 0;

  constructor(
    private readonly path: string,
    private readonly query: Readonly<Record<string, QueryValue>>,
    private readonly onChange: () => void,
  ) {}

  /** Loads until a row is there. */
  async reach(row: number): Promise<void> {
    this.#wanted = row;
    if (this.#isLoading) return;
    this.#isLoading = true;
    try {
      while (this.#cursor !== null && this.commits.length <= this.#wanted + PAGE.ahead) await this.#loadPage();
    } catch (error) {
      if (!this.#abort.signal.aborted) this.error = error;
    }
    this.#isLoading = false;
    if (!this.#abort.signal.aborted) this.onChange();
  }

  stop(): void {
    this.#abort.abort();
  }

  async #loadPage(): Promise<void> {
    const query = { ...this.query, limit: PAGE.size, cursor: this.#cursor ?? undefined };
    const { signal } = this.#abort;
    const page: Page<GraphCommit> & { readonly total: number } = await get(this.path, { query, signal });
    this.commits.push(...page.items);
    this.layout.add(page.items);
    this.total = page.next_cursor === null ? this.commits.length : Math.max(page.total, this.commits.length);
    this.#cursor = page.next_cursor;
    this.onChange();
  }
}
