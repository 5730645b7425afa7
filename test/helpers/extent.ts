/** `npm test -- thorough` runs the long form of floods, races and models. */
export const isThorough = process.env.SUITE === 'thorough';

/** The number of sequences of a model, or of seeds of a race. `MODEL_RUNS` overrides it. */
export function sequences(inShort: number, inLong = 40): number {
	return Number(process.env.MODEL_RUNS ?? (isThorough ? inLong : inShort));
}

/** The size of a flood: a third in `npm test`. */
export function flood(size: number): number {
	return isThorough ? size : Math.ceil(size / 3);
}
