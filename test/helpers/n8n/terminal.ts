const TICK_MS = 1_000;
const QUIET_TICK_MS = 30_000;
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

/** Shows the label and the time of a running step: on one line, or every half minute if there is no terminal. */
export async function step<T>(label: string, work: () => Promise<T>): Promise<T> {
	const start = Date.now();
	const live = process.stdout.isTTY;
	const shown = label.padEnd(LABEL_WIDTH);
	if (live) process.stdout.write(`  ${shown}`);
	const ticker = setInterval(
		() => {
			if (live) process.stdout.write(`\r  ${shown}${secondsSince(start)}`);
			else say(`  ${shown}still running after ${secondsSince(start)}`);
		},
		live ? TICK_MS : QUIET_TICK_MS,
	);
	const end = (outcome: string) => {
		clearInterval(ticker);
		process.stdout.write(`${live ? '\r' : ''}  ${shown}${outcome}\n`);
	};
	try {
		const result = await work();
		end(secondsSince(start));
		return result;
	} catch (error) {
		end('failed');
		throw error;
	}
}
