import { commitFiles } from '../../api/commit-pack.js';
import { createRepo, repositoryPath, repoWriter, writeNote, writer } from '../../api/requests.js';
import { expectStatus, expectSuccess } from '../../check/expect.js';
import { Skip } from '../../check/outcomes.js';
import type { RuleContext } from '../../check/rule-context.js';
import { OWN, type SampleFile } from '../../fixtures/content.js';
import { createNamedRepository, newRepository, reserveName } from '../../fixtures/repositories.js';

/** Which of its two families of routes an operation is asked by. */
export const FAMILIES = ['preferred', 'v1'] as const;
export type Family = (typeof FAMILIES)[number];

/** An upstream on a port that is closed, so that a sync fails at once. */
export const UNREACHABLE_UPSTREAM = { provider: 'gitea', owner: 'octo', name: 'origin', upstream_host: 'localhost:1' };

/** The repository that operations are tried on, and what some of them need beforehand. */
export class TestRepository {
  readonly name: string;
  /** A branch, a commit of it, and a file on it; by default those that the suite puts into its own repositories. */
  readonly branch: string;
  readonly tip: string;
  readonly path: string;

  constructor(
    readonly t: RuleContext,
    { name, branch = OWN.branch, tip = branch, path = OWN.path }: Partial<SampleFile> & { readonly name: string },
  ) {
    this.name = name;
    this.branch = branch;
    this.tip = tip;
    this.path = path;
  }

  static async create(t: RuleContext): Promise<TestRepository> {
    return new TestRepository(t, await newRepository(t));
  }

  /** A name that is unique in the whole organization, as the names of hosting projects have to be. */
  unusedName(stem: string): string {
    return `${stem}-${this.t.uniqueName().replaceAll('/', '-')}`;
  }

  /** A branch with one commit on top of `main`. */
  async createBranch(): Promise<string> {
    return (await this.#commit('branch')).branch;
  }

  async createTag(): Promise<string> {
    const name = this.unusedName('tag');
    const options = { as: writer(this.name), json: { name, target: this.tip } };
    expectSuccess(await this.t.post(`${repositoryPath(this.name)}/tags`, options));
    return name;
  }

  /** A commit, and a note on it where one is asked for. */
  async createCommit(note?: string): Promise<string> {
    const { sha } = await this.#commit('noted');
    if (note !== undefined) expectSuccess(await writeNote(this.t, this.name, { sha, note }));
    return sha;
  }

  async #commit(stem: string): Promise<{ branch: string; sha: string }> {
    const branch = this.unusedName(stem);
    const metadata = { target_branch: branch, base_branch: 'main' };
    const { sha } = await commitFiles(this.t, this.name, { [`${branch}.txt`]: 'x\n' }, metadata);
    return { branch, sha };
  }

  /** The id of a Git credential of a repository of its own. */
  async createGitCredential(): Promise<{ repo: string; id: string }> {
    const repo = await this.createRepository();
    const options = { as: repoWriter(repo), json: { username: 'u', password: 'p' } };
    const answer = expectSuccess(await this.t.post(`${repositoryPath(repo)}/git-credentials`, options));
    return { repo, id: answer.string('id') };
  }

  async createRepository(): Promise<string> {
    const repo = this.t.uniqueName();
    await createNamedRepository(this.t, repo);
    return repo;
  }

  /** A repository with an upstream and no sync running. */
  async createWithUpstream(): Promise<string> {
    const { t } = this;
    t.needsEmulator();
    const repo = await reserveName(t);
    expectSuccess(await createRepo(t, repo, { json: { base_repo: UNREACHABLE_UPSTREAM } }));
    await t.eventually(async () => {
      const options = { as: repoWriter(repo), json: { default_branch: 'none' } };
      const answer = await t.request('PATCH', repositoryPath(repo), options);
      return answer.code !== 'sync_in_progress' && answer.status !== 503;
    }, 'the first sync ends');
    return repo;
  }

  /** Gives the repository a hosting project, once. Skips the rule where there is no hosting. */
  async ensureHosting(): Promise<void> {
    const json = { deployment: { project_name: this.unusedName('project').toLowerCase() } };
    const answer = await this.t.request('PATCH', repositoryPath(this.name), { as: repoWriter(this.name), json });
    if (answer.code === 'hosting_not_enabled') throw new Skip('the organization has no hosting');
    expectStatus(answer, 200);
  }

  async createDeployment(): Promise<string> {
    await this.ensureHosting();
    const as = { repo: this.name, scopes: ['deployment:write'] };
    const answer = await this.t.post(`${repositoryPath(this.name)}/deployments`, { as, json: { ref: 'main' } });
    return expectSuccess(answer).string('id');
  }
}
