import { text } from '../../config/option-values.js';
import { ADMIN_FLAGS, AdminClient, printJson, readAction, readValue, withQuery } from '../admin-client.js';
import { defineCommand } from '../command.js';
import { sayingSource } from '../source-errors.js';
import { writeTable } from '../table.js';
import { UsageError } from '../usage-error.js';
import { sendSource } from './import.js';

const ACTIONS = ['add', 'ls', 'push', 'rm'] as const;

/** `emulator repo`: the repositories of an emulator. */
export const repoCommand = defineCommand({
  name: 'repo',
  describe: 'The repositories of an emulator, whatever their state: ls, add NAME, rm NAME, push DIR [NAME]',
  flags: {
    ...ADMIN_FLAGS,
    org: {
      read: text('the name of an organization'),
      describe: 'Organization of the repositories; default: the first one',
    },
    'default-branch': { read: text('the name of a branch'), describe: 'Of a repository that is added' },
  },
  positionals: {
    action: 'add, ls, push or rm',
    what: 'Name of a repository; to push: a folder, a bundle, a bare repository or a clone URL',
    name: 'Of the repository that is pushed to; default: the last part of the path',
  },
  run: async ({ action, what, name, json, org, 'default-branch': branch, ...address }, { terminal }) => {
    const verb = readAction('repo', action, ACTIONS, undefined);
    const wanted = {
      add: 'the name of a repository',
      ls: undefined,
      push: 'a folder or a URL',
      rm: 'the name of a repository',
    };
    const given = readValue(`repo ${verb}`, what, wanted[verb]);
    if (verb !== 'push') readValue(`repo ${verb}`, name, undefined);
    if (verb !== 'add' && branch !== undefined) throw new UsageError('--default-branch goes with repo add only.');
    const client = new AdminClient(address, terminal);
    if (verb === 'push') {
      const { nameOf } = await import('../../exports/open-state.js');
      const target = { name: name ?? (await sayingSource(async () => nameOf(given))), organization: org };
      const { repository } = await sendSource(given, target, address, terminal);
      if (json) return printJson(terminal, repository);
      return terminal.print(`${repository!.name} ${repository!.commit ?? 'without a commit'}\n`);
    }
    if (verb === 'add') {
      const body = {
        name: given,
        ...(org !== undefined && { organization: org }),
        ...(branch !== undefined && { default_branch: branch }),
      };
      const made = await client.ask('POST', '/repositories', body);
      return json ? printJson(terminal, made) : terminal.print(`${given}\n`);
    }
    if (verb === 'rm') {
      await client.ask('DELETE', withQuery(`/repositories/${encodeURIComponent(given)}`, { organization: org }));
      return json ? printJson(terminal, { name: given, removed: true }) : undefined;
    }
    const items = await client.list('/repositories', { organization: org });
    if (json) return printJson(terminal, items);
    const rows = items.map((item) =>
      [item.name, item.state, item.default_branch ?? '–', item.refs, item.objects, item.created_at].map(String),
    );
    terminal.print(writeTable([['NAME', 'STATE', 'BRANCH', 'REFS', 'OBJECTS', 'CREATED AT'], ...rows]));
  },
});
