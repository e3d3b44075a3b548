/*
 * Declarations of the test runner functions that are used. The user installs the runners, and the exported types do not
 * refer to them.
 */

declare module 'vitest' {
  interface TestContext {
    readonly task: { readonly result?: { readonly state: string } };
  }
  export function beforeEach(hook: (context: TestContext) => Promise<void>): void;
  export function afterEach(hook: (context: TestContext) => Promise<void>): void;
  export function afterAll(hook: () => Promise<void>): void;
}

declare module '@jest/globals' {
  export function beforeAll(hook: () => Promise<void>): void;
  export function beforeEach(hook: () => Promise<void>): void;
  export function afterEach(hook: () => Promise<void>): void;
  export function afterAll(hook: () => Promise<void>): void;
}
