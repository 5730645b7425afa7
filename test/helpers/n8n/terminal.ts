const LABEL_WIDTH = 44;

export type Say = (line: string) => void;

export const say: Say = (line) => {
	process.stdout.write(`${line}\n`);
};

export function secondsSince(start: number): string {
	return `${((Date.now() - start) / 1000).toFixed(1)} s`;
}

/** Without the stack. */
export function messageOf(error: unknown): string {
	return error instanceof Error ? error.message : String(error);
}

/** Shows the label of a step, and in the end how long the step took. */
export async function step<T>(label: string, work: () => Promise<T>): Promise<T> {
	const start = Date.now();
	process.stdout.write(`  ${label.padEnd(LABEL_WIDTH)}`);
	const result = await work().catch((error: unknown) => {
		say('failed');
		throw error;
	});
	say(secondsSince(start));
	return result;
}

/** Runs a program that a person started. A signal ends it after `end`. */
export function runProgram(work: () => Promise<void>, end: () => Promise<void>): void {
	let isAsked = false;
	for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
		process.on(signal, () => {
			if (isAsked) return;
			isAsked = true;
			void end().finally(() => process.exit(130));
		});
	}
	work().catch(async (error: unknown) => {
		// The signal has caused the failure.
		if (isAsked) return;
		say(`\n${messageOf(error)}`);
		await end();
		process.exit(1);
	});
}
