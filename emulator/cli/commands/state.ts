import { list, text } from '../../config/option-values.js';
import { readAction, readValue } from '../admin-client.js';
import { adminCommand } from '../admin-command.js';
import { readJsonObject } from '../document.js';
import { UsageError } from '../usage-error.js';

const SWITCH = /^([^.=]+)\.([A-Za-z]+)=(.+)$/;
const EXAMPLE = '{"repositories":{"team/app":{"state":"archived"}}}';
const STATE = /^(.+)=([a-z]+)$/;

const FLAGS = {
  repo: {
    read: list(text('NAME=STATE, such as team/app=archived', STATE)),
    repeatable: true,
    describe: 'Repository and its new state: NAME=STATE, such as team/app=archived',
  },
  org: {
    read: list(text('NAME.SWITCH=VALUE, such as demo.authentication=unavailable', SWITCH)),
    repeatable: true,
    describe: 'Setting of an organization and its new value, such as demo.authentication=unavailable',
  },
} as const;

/**
 * Command `emulator state`: shows or changes the simulated state of a running emulator, such as an archived repository.
 */
export const stateCommand = adminCommand({
  name: 'state',
  describe: 'Show or change the states of repositories and the settings of organizations: show, set [JSON]',
  flags: FLAGS,
  positionals: {
    action: 'show or set; default show',
    changes: 'Changes in JSON, as in the body of PATCH /_emulator/state',
  },
  run: async ({ action, changes, repo, org }, client) => {
    const name = readAction('state', action, ['show', 'set'], 'show');
    if (name === 'show') readValue('state show', changes ?? repo?.[0] ?? org?.[0], undefined);
    else if (!changes && !repo && !org)
      throw new UsageError('state set requires changes: a JSON object, --repo or --org.');
    const response = await (name === 'show'
      ? client.ask('GET', '/state')
      : client.ask('PATCH', '/state', {
          ...(changes !== undefined && readJsonObject(changes, `state set takes a JSON object, such as ${EXAMPLE}.`)),
          ...readFlags(repo, org),
        }));
    return { json: response, text: writeState(response as State) };
  },
});

type State = Readonly<Record<'organizations' | 'repositories', Readonly<Record<string, object>>>>;

function writeState({ organizations, repositories }: State): string {
  const line = (kind: string, [name, members]: [string, object]) => {
    const shown = Object.entries(members).map(([member, value]) => ` ${member}=${JSON.stringify(value)}`);
    return `${kind} ${name}:${shown.join('')}\n`;
  };
  const lines = [
    ...Object.entries(organizations).map((each) => line('organization', each)),
    ...Object.entries(repositories).map((each) => line('repository', each)),
  ];
  return lines.join('');
}

function readFlags(repo: readonly string[] = [], org: readonly string[] = []): object {
  const repositories = Object.fromEntries(
    repo.map((each) => STATE.exec(each)!.slice(1)).map(([of, state]) => [of, { state }]),
  );
  const organizations: Record<string, Record<string, unknown>> = {};
  for (const each of org) {
    const [, of, member, value] = SWITCH.exec(each) as unknown as [string, string, string, string];
    organizations[of] = { ...organizations[of], [member]: /^\d+$/.test(value) ? Number(value) : value };
  }
  return { ...(repo.length > 0 && { repositories }), ...(org.length > 0 && { organizations }) };
}
