/** How a client names the scenario that it is in. */
export const SCENARIO = /^[\w.:/-]{1,100}$/;
