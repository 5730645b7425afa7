import { sleep } from 'n8n-workflow';
import { deferred } from './deferred';

/** In milliseconds. Tests replace it. */
export const clock = {
	now: (): number => Date.now(),
	/** Does not jump when somebody sets the clock. */
	elapsed: (): number => Math.floor(performance.now()),
	sleep: async (milliseconds: number): Promise<void> => await sleep(milliseconds),
	random: (): number => Math.random(),
};

/** For a person, in the time of the platform's dashboard: `26/11/2026, 21:47 (Brasília time)`. */
export function formatTime(milliseconds: number): string {
	return `${inBrasilia(milliseconds, { dateStyle: 'short', timeStyle: 'short' })} (Brasília time)`;
}

/** The day in Brasília: `26/11/2026`. */
export function formatDay(milliseconds: number): string {
	return inBrasilia(milliseconds, { dateStyle: 'short' });
}

function inBrasilia(milliseconds: number, style: Intl.DateTimeFormatOptions): string {
	const options = { ...style, timeZone: 'America/Sao_Paulo' };
	return new Intl.DateTimeFormat('pt-BR', options).format(milliseconds);
}

export class CanceledError extends Error {
	constructor() {
		super('The execution was canceled');
	}
}

/** Longer sleeps go in slices, so that no long timer outlives a cancellation. */
export const LONGEST_SLEEP_MS = 1_000;

/** @throws CanceledError */
export async function cancelableSleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
	const end = clock.elapsed() + milliseconds;
	for (;;) {
		if (signal?.aborted) throw new CanceledError();
		const left = end - clock.elapsed();
		if (left <= 0) return;
		await unlessCanceled(clock.sleep(Math.min(left, LONGEST_SLEEP_MS)), signal);
	}
}

/** @throws CanceledError as soon as the signal is aborted */
export async function unlessCanceled<T>(promise: Promise<T>, signal?: AbortSignal): Promise<T> {
	const canceled = deferred<never>();
	const cancel = (): void => canceled.reject(new CanceledError());
	signal?.addEventListener('abort', cancel);
	if (signal?.aborted) cancel();

	return await Promise.race([promise, canceled.promise]).finally(() =>
		signal?.removeEventListener('abort', cancel),
	);
}
