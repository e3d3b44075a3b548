import type { JournalEntry } from '../world/journal.js';
import type { World } from '../world/world.js';

/** What is known of a request that was answered. What could not be read of it is absent. */
export interface RecordedRequest extends Pick<JournalEntry, 'id' | 'status' | 'code' | 'why'> {
  readonly organization?: string | undefined;
  readonly method?: string | undefined;
  readonly path?: string | undefined;
  readonly operation?: string | undefined;
  readonly repository?: string | undefined;
  readonly subject?: string | undefined;
  readonly origin?: string;
}

/** Adds the line of a request to the journal and to the log. `now` is milliseconds on the world's clock. */
export function recordRequest(world: World, now: number, request: RecordedRequest): void {
  const entry: JournalEntry = {
    id: request.id,
    at: new Date(now).toISOString(),
    organization: request.organization,
    method: request.method ?? '',
    path: request.path ?? '',
    operation: request.operation,
    repository: request.repository,
    subject: request.subject,
    status: request.status,
    code: request.code,
    origin: request.origin ?? 'real',
    why: request.why,
  };
  world.state.journal.add(entry);
  world.engine.log.write({ event: 'request', ...entry });
}
