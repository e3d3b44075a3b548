import { ADMIN_FLAGS, type AdminAddress, AdminClient, EMULATOR_FLAGS, printJson } from './admin-client.js';
import { type Command, type Definition, defineCommand, type Flags, type Positionals } from './command.js';
import { writeTable } from './table.js';

/** Output of a command. With the flag --json, `json` is printed; otherwise `text`. */
export interface Result {
  readonly json: unknown;
  readonly text?: string;
}

type AdminDefinition<Table extends Flags, Words extends Positionals> = Omit<
  Definition<Table, Words>,
  'flags' | 'run'
> & {
  /** Flags of the command, in addition to those that select the emulator. */
  readonly flags?: Table;
  /** False for a command that always applies to the whole emulator; it has no flag --namespace. Default: true. */
  readonly isOfNamespace?: boolean;
  readonly run: (
    values: Parameters<Definition<Table, Words>['run']>[0],
    client: AdminClient,
    session: Parameters<Definition<Table, Words>['run']>[1],
  ) => Promise<Result>;
};

/** Defines a command that calls the admin API of a running emulator. */
export function adminCommand<
  const Table extends Flags = Record<never, never>,
  const Words extends Positionals = Record<never, string>,
>({ flags, isOfNamespace = true, run, ...command }: AdminDefinition<Table, Words>): Command {
  const all = { ...(isOfNamespace ? ADMIN_FLAGS : EMULATOR_FLAGS), ...flags } as typeof ADMIN_FLAGS & Table;
  return defineCommand<typeof all, Words>({
    ...command,
    flags: all,
    run: async (values, session) => {
      const { terminal } = session;
      const { json, text = '' } = await run(
        values,
        new AdminClient(values as unknown as AdminAddress, terminal),
        session,
      );
      if (values.json) printJson(terminal, json);
      else if (text !== '') terminal.print(text);
    },
  });
}

type Item = Readonly<Record<string, unknown>>;

/**
 * Returns the items of a list as JSON and as a text table. `columns` maps each column heading to the name of an item's
 * member.
 */
export function listed(items: readonly Item[], columns: Readonly<Record<string, string>>): Result {
  const rows = items.map((item) => Object.values(columns).map((member) => String(item[member] ?? '–')));
  return { json: items, text: writeTable([Object.keys(columns), ...rows]) };
}

/** Returns the output for a newly created item. The text is only the item's id, so that scripts can store it. */
export function made(response: unknown): Result {
  return { json: response, text: `${(response as { readonly id: string }).id}\n` };
}
