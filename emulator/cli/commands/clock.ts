import { readAction, readValue } from '../admin-client.js';
import { adminCommand } from '../admin-command.js';

interface Action {
  /**
   * Description of the argument that the action requires, for error messages. Undefined if the action takes no
   * argument.
   */
  readonly wants?: string;
  readonly change?: (value: string) => object;
}

const ACTIONS = {
  show: {},
  freeze: { change: () => ({ mode: 'frozen' }) },
  advance: { wants: 'a duration such as 30s or P1DT2H', change: (advance) => ({ advance }) },
  tick: { change: () => ({ mode: 'tick' }) },
  real: { change: () => ({ mode: 'real' }) },
  set: { wants: 'an ISO 8601 time such as 2026-01-01T00:00:00Z', change: (now) => ({ now }) },
} satisfies Readonly<Record<string, Action>>;

type ActionName = keyof typeof ACTIONS;

/** Command `emulator clock`: shows or changes the time of a running emulator. */
export const clockCommand = adminCommand({
  name: 'clock',
  describe: 'Show or change the time of an emulator: show, freeze, advance DURATION, tick, real, set TIME',
  positionals: {
    action: 'show, freeze, advance, tick, real or set; default show',
    value: 'Duration for advance, such as 30s; time for set, such as 2026-01-01T00:00:00Z',
  },
  run: async ({ action, value }, client) => {
    const name = readAction('clock', action, Object.keys(ACTIONS) as ActionName[], 'show');
    const { wants, change }: Action = ACTIONS[name];
    const given = readValue(`clock ${name}`, value, wants);
    const response = await (change ? client.ask('PATCH', '/clock', change(given)) : client.ask('GET', '/clock'));
    const { now, mode } = response as { now: string; mode: string };
    return { json: response, text: `${now} (${mode})\n` };
  },
});
