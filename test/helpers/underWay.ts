interface Timed {
	at: number;
	durationMs: number | null;
}

/** The largest number of requests in flight at the same moment. */
export function mostAtOnce(requests: readonly Timed[]): number {
	const isUnderWay = ({ at, durationMs }: Timed, moment: number) =>
		at <= moment && at + (durationMs ?? 0) > moment;
	return Math.max(
		0,
		...requests.map(({ at }) => requests.filter((one) => isUnderWay(one, at)).length),
	);
}
