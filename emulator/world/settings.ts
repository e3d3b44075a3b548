import type { Limits } from '../config/limits.js';
import type { Variants } from '../config/variants.js';
import { ValuePart } from './state-part.js';

/** What was set at the start and can be set anew while the service runs. */
export interface SettingValues {
  readonly limits: Limits;
  readonly variants: Variants;
}

/** What is absent stays as it is. */
export interface SettingChanges {
  readonly limits?: { readonly [Name in keyof Limits]?: number | undefined } | undefined;
  readonly variants?: Partial<Variants> | undefined;
}

export class Settings extends ValuePart<SettingValues> {
  get limits(): Limits {
    return this.value.limits;
  }

  get variants(): Variants {
    return this.value.variants;
  }

  change({ limits = {}, variants = {} }: SettingChanges): void {
    const { value: values } = this;
    this.value = { limits: withGiven(values.limits, limits), variants: withGiven(values.variants, variants) };
  }
}

/** The values with those of the changes that are defined. */
export function withGiven<Values extends object>(values: Values, changes: object): Values {
  return { ...values, ...Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined)) };
}
