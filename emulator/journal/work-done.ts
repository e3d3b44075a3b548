/** Units of work (`schedule`) that were done since the last step: those who do it add to it, their driver takes it. */
export interface WorkDone {
  units: number;
}

/** Units that make a step worth its price. */
const STEP = 64;

/** To be yielded from within a loop: `if (isStep(work)) yield take(work);` */
export function isStep({ units }: WorkDone): boolean {
  return units >= STEP;
}

export function take(work: WorkDone): number {
  const { units } = work;
  work.units = 0;
  return units;
}
