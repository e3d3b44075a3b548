import type { GraphCommit } from '@emulator/admin/repository-history.js';
import { get, type Page, type QueryValue } from '../api/client.js';
import { GraphLayout } from './graph-layout.js';

/**
 * `size` is the number of commits that one request reads. `ahead` is the number of commits that must be loaded after
 * the last visible row. If fewer are loaded, the next request is sent, before the user scrolls to the end.
 */
const PAGE = { size: 1_000, ahead: 200 };

/**
 * Commits of a repository, newest first, and the layout of their graph. While the user scrolls, they are loaded in
 * parts of `PAGE.size` commits.
 */
export class CommitHistory {
  readonly commits: GraphCommit[] = [];
  readonly layout = new GraphLayout();
  /**
   * Number of commits in the history, including those that are not loaded yet. Undefined until the first part is
   * loaded.
   */
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

  /**
   * Loads commits until the row `row` (from 0) and `PAGE.ahead` rows after it are loaded. The list calls this method
   * when the user scrolls. A call during loading only changes the wanted row.
   */
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
