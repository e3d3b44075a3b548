import { type ProblemCode, problemCodes, shownCode } from '../http/problem.js';
import { ACTIONS, type ActionKind, kindOf, stagesFor } from './actions.js';
import { factsByStage } from './known-facts.js';
import { FAULT_NAMES, isSwitchCode, type KeyForm } from './names.js';
import { type RecipeWay, writeCommands } from './recipe.js';
import { RECIPES } from './recipes.js';
import { BEFORE_IN_BAND, STAGES, type Stage } from './stage.js';

/** A name of the grammar, as it is printed. */
export interface NameReference {
  readonly name: string;
  readonly about: string;
  readonly keys: readonly KeyReference[];
  /** Keys of which at most one may be given. */
  readonly oneOf: readonly string[];
  /** The member of an action that it is written as in JSON. */
  readonly action: ActionKind;
  /** The status, of a code. */
  readonly status?: number;
  /** Only operations that list the code can answer with it. */
  readonly isOfFew: boolean;
  /** Where it can happen, and where it does unless a stage is given: Git's operations have stages of their own. */
  readonly stages: readonly Stage[];
  readonly defaultStages: readonly Stage[];
  /** The same by operation: Git's by their ids, the others as `api`; where one has none, it has to be given. */
  readonly defaults: Readonly<Record<string, Stage>>;
  /** Stages that requests can ask for by a header or a claim. */
  readonly inBandStages: readonly Stage[];
}

export interface KeyReference extends KeyForm {
  readonly key: string;
  readonly wants: string;
  readonly needed: boolean;
  /** Where the fault can happen with the key, where that is not everywhere: of a choice by its value. */
  readonly narrows: readonly { readonly value?: string; readonly stages: readonly Stage[] }[];
}

/** A code, and how to get it. */
export interface CodeReference {
  readonly code: string;
  readonly status: number;
  readonly title: string;
  readonly way: RecipeWay;
  readonly commands: readonly string[];
}

export interface FaultReference {
  readonly grammar: string;
  readonly stages: typeof STAGES;
  /** Members of `match` that are known from a stage on; the stages in the order in which a request comes to them. */
  readonly known: Readonly<Partial<Record<Stage, readonly string[]>>>;
  readonly names: readonly NameReference[];
  readonly codes: readonly CodeReference[];
}

/** Everything that can be asked for, from the tables that serve it; codes as a service with this prefix shows them. */
export function faultReference(forgePrefix = 'forge'): FaultReference {
  const shown = (name: string) => shownCode(name as ProblemCode, forgePrefix);
  const codes = new Map(problemCodes().map((row) => [row.code, row]));
  return {
    grammar: 'name[*times][+skip][@stage][;key=value]…',
    stages: STAGES,
    known: Object.fromEntries(factsByStage()),
    names: [...FAULT_NAMES].map(([name, { about, keys, needs = [], oneOf = [], action }]) => {
      const shape = action({});
      const stages = stagesFor(shape);
      const code = codes.get(name as ProblemCode);
      const defaults = Object.entries(ACTIONS[kindOf(shape)].byDefault).filter(([, stage]) => stages.includes(stage));
      return {
        name: shown(name),
        about,
        keys: Object.entries(keys).map(([key, { wants, form, read }]) => ({
          key,
          wants,
          needed: needs.includes(key),
          ...form,
          narrows: (form.type === 'choice' ? form.values! : [form.example])
            .map((value) => ({ value, stages: stagesFor(action({ [key]: read(value) })) }))
            .filter((narrowed) => narrowed.stages.length < stages.length)
            .map((narrowed) => (form.type === 'choice' ? narrowed : { stages: narrowed.stages })),
        })),
        oneOf,
        action: kindOf(shape),
        ...(code && { status: code.status }),
        isOfFew: code !== undefined && isSwitchCode(code.code),
        stages,
        defaultStages: stages.filter((stage) => defaults.some(([, each]) => each === stage)),
        defaults: Object.fromEntries(defaults),
        inBandStages: stages.filter((stage) => !BEFORE_IN_BAND.has(stage)),
      };
    }),
    codes: RECIPES.map((recipe) => {
      const { code, status, title } = codes.get(recipe.code)!;
      return { code: shown(code), status, title, way: recipe.way, commands: writeCommands(recipe) };
    }),
  };
}
