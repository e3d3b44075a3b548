import { commitFiles } from '../../api/commit-pack.js';
import { createRepo, repositoryPath, repoWriter, writeNote, writer } from '../../api/requests.js';
import { expectStatus, expectSuccess } from '../../check/expect.js';
import { Skip } from '../../check/outcomes.js';
import type { RuleContext } from '../../check/rule-context.js';
import { README, type SampleFile } from '../../fixtures/content.js';
import { createNamedRepository, newRepository, reserveName } from '../../fixtures/repositories.js';

/** Families of routes: `preferred` (`/api/repos`, newer clients) and `v1` (`/api/v1`, older clients). */
export const FAMILIES = ['preferred', 'v1'] as const;
export type Family = (typeof FAMILIES)[number];

/** Upstream (repository to import from) on a closed port. A sync from it fails at once. */
export const UNREACHABLE_UPSTREAM = { provider: 'gitea', owner: 'octo', name: 'origin', upstream_host: 'localhost:1' };

/** Repository on which rules try operations. Its methods create what an operation needs, such as a branch. */
export class TestRepository {
  readonly name: string;
  /**
   * Branch of the repository, its tip, and the path of a file on the branch. The defaults fit the repositories that the
   * suite creates.
   */
  readonly branch: string;
  readonly tip: string;
  readonly path: string;

  constructor(
    readonly t: RuleContext,
    { name, branch = t.defaultBranch, tip = branch, path = README }: Partial<SampleFile> & { readonly name: string },
  ) {
    this.name = name;
    this.branch = branch;
    this.tip = tip;
    this.path = path;
  }

  static async create(t: RuleContext): Promise<TestRepository> {
    return new TestRepository(t, await newRepository(t));
  }

  /** Returns an unused name that is unique in the whole organization; hosting projects require this. */
  unusedName(stem: string): string {
    return this.t.uniqueRef(stem);
  }

  /** Creates a branch with one commit on top of the default branch. Returns the branch name. */
  async createBranch(): Promise<string> {
    return (await this.#commit('branch')).branch;
  }

  async createTag(): Promise<string> {
    const name = this.unusedName('tag');
    const options = { as: writer(this.name), json: { name, target: this.tip } };
    expectSuccess(await this.t.post(`${repositoryPath(this.name)}/tags`, options));
    return name;
  }

  /** Creates a commit on a new branch and returns its SHA. Also writes `note` for the commit, if given. */
  async createCommit(note?: string): Promise<string> {
    const { sha } = await this.#commit('noted');
    if (note !== undefined) expectSuccess(await writeNote(this.t, this.name, { sha, note }));
    return sha;
  }

  async #commit(stem: string): Promise<{ branch: string; sha: string }> {
    const branch = this.unusedName(stem);
    const metadata = { target_branch: branch, base_branch: this.branch };
    const { sha } = await commitFiles(this.t, this.name, { [`${branch}.txt`]: 'x\n' }, metadata);
    return { branch, sha };
  }

  /**
   * Creates a repository with a Git credential, which is a user name and password for its upstream. Returns the
   * repository name and the credential id.
   */
  async createGitCredential(): Promise<{ repo: string; id: string }> {
    const repo = await this.createRepository();
    const options = { as: repoWriter(repo), json: { username: 'u', password: 'p' } };
    const response = expectSuccess(await this.t.post(`${repositoryPath(repo)}/git-credentials`, options));
    return { repo, id: response.string('id') };
  }

  async createRepository(): Promise<string> {
    const repo = this.t.uniqueName();
    await createNamedRepository(this.t, repo);
    return repo;
  }

  /**
   * Creates a repository with an upstream (repository to import from), and waits until no sync is running. Returns the
   * repository name.
   */
  async createWithUpstream(): Promise<string> {
    const { t } = this;
    t.needsEmulator();
    const repo = await reserveName(t);
    expectSuccess(await createRepo(t, repo, { json: { base_repo: UNREACHABLE_UPSTREAM } }));
    await t.eventually(async () => {
      const options = { as: repoWriter(repo), json: { default_branch: 'none' } };
      const response = await t.request('PATCH', repositoryPath(repo), options);
      return response.code !== 'sync_in_progress' && response.status !== 503;
    }, 'the first sync must end');
    return repo;
  }

  /** Creates a hosting project for the repository, if it has none. Skips the rule if the target has no hosting. */
  async ensureHosting(): Promise<void> {
    const json = { deployment: { project_name: this.unusedName('project').toLowerCase() } };
    const response = await this.t.request('PATCH', repositoryPath(this.name), { as: repoWriter(this.name), json });
    if (response.code === 'hosting_not_enabled') throw new Skip('the organization has no hosting');
    expectStatus(response, 200);
  }

  async createDeployment(): Promise<string> {
    await this.ensureHosting();
    const as = { repo: this.name, scopes: ['deployment:write'] };
    const response = await this.t.post(`${repositoryPath(this.name)}/deployments`, { as, json: { ref: this.branch } });
    return expectSuccess(response).string('id');
  }
}
