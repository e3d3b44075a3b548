import { type ProblemCode, problemCodes, shownCode } from '../http/problem.js';
import { ACTIONS, kindOf, stagesFor } from './actions.js';
import { FAULT_NAMES } from './names.js';
import { type RecipeWay, writeCommands } from './recipe.js';
import { RECIPES } from './recipes.js';
import { STAGES, type Stage } from './stage.js';

/** A name of the grammar, as it is printed. */
export interface NameReference {
  readonly name: string;
  readonly about: string;
  readonly keys: readonly { readonly key: string; readonly wants: string; readonly needed: boolean }[];
  /** Where it can happen, and where it does unless a stage is given: Git's operations have stages of their own. */
  readonly stages: readonly Stage[];
  readonly defaultStages: readonly Stage[];
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
    names: [...FAULT_NAMES].map(([name, { about, keys, needs = [], action }]) => {
      const shape = action({});
      const stages = stagesFor(shape);
      return {
        name: shown(name),
        about,
        keys: Object.entries(keys).map(([key, { wants }]) => ({ key, wants, needed: needs.includes(key) })),
        stages,
        defaultStages: stages.filter((stage) => Object.values(ACTIONS[kindOf(shape)].byDefault).includes(stage)),
      };
    }),
    codes: RECIPES.map((recipe) => {
      const { code, status, title } = codes.get(recipe.code)!;
      return { code: shown(code), status, title, way: recipe.way, commands: writeCommands(recipe) };
    }),
  };
}
