export { createOnce, refuseAhead } from './createOnce';
export { type Created, type Creation, makeKeys } from './keys';
export { type Attempt, ExecutionMemory, hashOf, isChargeKnown } from './memory';
