/*
 * As much of the runners as is called here. They are installed by those who use them; what these modules export names
 * nothing of them.
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
