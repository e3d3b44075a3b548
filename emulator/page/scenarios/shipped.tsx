import { post } from '../api/client.js';
import { ActionButton } from '../components/action.js';
import { Copy } from '../components/copy.js';
import { Given, GivenBlock } from '../components/given.js';

/**
 * Scenario that is part of the emulator, as listed by `GET shipped-scenarios` of the admin API. A scenario is a
 * scripted sequence of changes to the emulator.
 */
export interface ShippedScenario {
  readonly id: string;
  readonly about: string;
  /** Scenario file in YAML. */
  readonly text: string;
  readonly definition: object;
}

export interface ShippedProps {
  readonly scenario: ShippedScenario;
  /** True if a scenario with this id is already registered. This scenario then cannot be registered. */
  readonly isTaken: boolean;
}

/**
 * List item for a scenario that is part of the emulator. It shows a description, and a button that registers and starts
 * the scenario.
 */
export function Shipped({ scenario: { id, about, text, definition }, isTaken }: ShippedProps) {
  return (
    <li class="shipped">
      <div class="toolbar">
        <h3 class="grow">
          <Given text={id} />
        </h3>
        <ActionButton isDisabled={isTaken} act={() => post('scenarios', { ...definition, start: true })}>
          {isTaken ? 'Registered' : 'Start'}
          <span class="visually-hidden"> {id}</span>
        </ActionButton>
      </div>
      <p>
        <Given text={about} />
      </p>
      <details>
        <summary>{`Steps of ${id}`}</summary>
        <GivenBlock text={text} />
        <Copy text={`npx emulator scenario start ${id}`} />
      </details>
    </li>
  );
}
