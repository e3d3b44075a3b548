import { text } from '../../config/option-values.js';
import { readAction, readValue, withQuery } from '../admin-client.js';
import { adminCommand, listed } from '../admin-command.js';
import { sayingSource, UsageError } from '../usage-error.js';
import { sendSource, showRepository } from './import.js';

const ACTIONS = ['add', 'ls', 'push', 'rm'] as const;

/** Command `emulator repo`: lists, creates, deletes and fills repositories of a running emulator. */
export const repoCommand = adminCommand({
  name: 'repo',
  describe: 'List, create, delete or fill repositories, whatever their state: ls, add NAME, rm NAME, push DIR [NAME]',
  flags: {
    org: {
      read: text('the name of an organization'),
      describe: 'Organization of the repositories; default: the first organization',
    },
    'default-branch': { read: text('the name of a branch'), describe: 'Default branch of an added repository' },
  },
  positionals: {
    action: 'add, ls, push or rm',
    what: 'Name of a repository; for push: a folder, bundle, bare repository or clone URL',
    name: 'For push: name of the repository to push to; default: the last part of the path',
  },
  run: async ({ action, what, name, org, 'default-branch': branch }, client, { terminal }) => {
    const verb = readAction('repo', action, ACTIONS);
    const wanted = {
      add: 'the name of a repository',
      ls: undefined,
      push: 'a folder, bundle, bare repository or clone URL',
      rm: 'the name of a repository',
    };
    const given = readValue(`repo ${verb}`, what, wanted[verb]);
    if (verb !== 'push') readValue(`repo ${verb}`, name, undefined);
    if (verb !== 'add' && branch !== undefined) throw new UsageError('--default-branch is allowed only with repo add.');
    if (verb === 'push') {
      const { nameOf } = await import('../../exports/open-state.js');
      const target = { name: name ?? (await sayingSource(async () => nameOf(given))), organization: org };
      const { repository } = await sendSource(given, target, client, terminal);
      return { json: repository, text: showRepository(repository!) };
    }
    if (verb === 'add') {
      const body = {
        name: given,
        ...(org !== undefined && { organization: org }),
        ...(branch !== undefined && { default_branch: branch }),
      };
      return { json: await client.ask('POST', '/repositories', body), text: `${given}\n` };
    }
    if (verb === 'rm') {
      await client.ask('DELETE', withQuery(`/repositories/${encodeURIComponent(given)}`, { organization: org }));
      return { json: { name: given, removed: true } };
    }
    return listed(await client.list('/repositories', { organization: org }), {
      NAME: 'name',
      STATE: 'state',
      BRANCH: 'default_branch',
      REFS: 'refs',
      OBJECTS: 'objects',
      'CREATED AT': 'created_at',
    });
  },
});
