import { commitFiles } from '../../api/commit-pack.js';
import { keeper, segment, writeNote, writer } from '../../api/requests.js';
import { expectStatus, expectSuccess } from '../../check/expect.js';
import { Skip } from '../../check/outcomes.js';
import type { RuleContext } from '../../check/rule-context.js';
import { createNamedRepository, newRepository } from '../../fixtures/repositories.js';

/** Which of its two families of routes an operation is asked by. */
export const FAMILIES = ['preferred', 'v1'] as const;
export type Family = (typeof FAMILIES)[number];

/** Nothing answers there, so a sync fails at once. */
export const DEAD_END = { provider: 'gitea', owner: 'octo', name: 'origin', upstream_host: 'localhost:1' };

const base = (repo: string): string => `/api/repos/${segment(repo)}`;

/** The repository that operations are tried on, and what some of them need beforehand. */
export class Bed {
  private constructor(
    readonly t: RuleContext,
    readonly repo: string,
    readonly tip: string,
  ) {}

  static async make(t: RuleContext): Promise<Bed> {
    const { name, tip } = await newRepository(t);
    return new Bed(t, name, tip);
  }

  /** A name nothing has yet, in the whole organization: projects are called alike by nobody else. */
  unused(stem: string): string {
    return `${stem}-${this.t.uniqueName().replaceAll('/', '-')}`;
  }

  /** A branch with one commit on top of the seed. */
  async branch(): Promise<string> {
    const name = this.unused('branch');
    await commitFiles(
      this.t,
      this.repo,
      { [`${name}.txt`]: 'x\n' },
      { target_branch: name, base_branch: 'main', expected_head_sha: this.tip },
    );
    return name;
  }

  async tag(): Promise<string> {
    const name = this.unused('tag');
    const ask = { as: writer(this.repo), json: { name, target: this.tip } };
    expectSuccess(await this.t.post(`${base(this.repo)}/tags`, ask));
    return name;
  }

  /** A commit, and a note on it where one is asked for. */
  async commit(note?: string): Promise<string> {
    const branch = this.unused('noted');
    const metadata = { target_branch: branch, base_branch: 'main', expected_head_sha: this.tip };
    const { sha } = await commitFiles(this.t, this.repo, { [`${branch}.txt`]: 'x\n' }, metadata);
    if (note !== undefined) expectSuccess(await writeNote(this.t, this.repo, { sha, note }));
    return sha;
  }

  /** The id of a Git credential of a repository of its own. */
  async credential(): Promise<{ repo: string; id: string }> {
    const repo = await this.another();
    const ask = { as: keeper(repo), json: { username: 'u', password: 'p' } };
    const answer = await this.t.post(`${base(repo)}/git-credentials`, ask);
    expectSuccess(answer);
    return { repo, id: answer.string('id') };
  }

  async another(): Promise<string> {
    const repo = this.t.uniqueName();
    await createNamedRepository(this.t, repo);
    return repo;
  }

  /** A name for a repository that is still to be made. */
  async absent(): Promise<string> {
    const repo = this.t.uniqueName();
    await this.t.run.onRepository(repo);
    return repo;
  }

  /** A repository with an upstream and no sync running. */
  async follower(): Promise<string> {
    const { t } = this;
    t.needsEmulator();
    const repo = await this.absent();
    expectSuccess(await t.post('/api/repos', { as: keeper(repo), json: { base_repo: DEAD_END } }));
    await t.eventually(async () => {
      const answer = await t.request('PATCH', base(repo), { as: keeper(repo), json: { default_branch: 'none' } });
      return answer.code !== 'sync_in_progress' && answer.status !== 503;
    }, 'the first sync ends');
    return repo;
  }

  /** Gives the repository a hosting project, once. Skips the rule where there is no hosting. */
  async host(): Promise<void> {
    const json = { deployment: { project_name: this.unused('project').toLowerCase() } };
    const answer = await this.t.request('PATCH', base(this.repo), { as: keeper(this.repo), json });
    if (answer.code === 'hosting_not_enabled') throw new Skip('the organization has no hosting');
    expectStatus(answer, 200);
  }

  async deployment(): Promise<string> {
    await this.host();
    const as = { repo: this.repo, scopes: ['deployment:write'] };
    const answer = await this.t.post(`${base(this.repo)}/deployments`, { as, json: { ref: 'main' } });
    expectSuccess(answer);
    return answer.string('id');
  }
}
