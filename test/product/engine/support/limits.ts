import { DEFAULT_RETRY_LIMITS, type RetryLimits } from '../../../../nodes/DigitalSales/api/client';
import { ENDPOINTS } from '../../../../nodes/DigitalSales/api/outcome';

/** Shortens, until the end of a test, what nobody can choose: how often and how long a request is tried. */
export function useLimits(): (limits: Partial<RetryLimits> & { timeoutMs?: number }) => void {
	const retry = { ...DEFAULT_RETRY_LIMITS };
	const times = Object.values(ENDPOINTS).map((endpoint) => ({ endpoint, usual: { ...endpoint } }));
	afterEach(() => {
		Object.assign(DEFAULT_RETRY_LIMITS, retry);
		for (const { endpoint, usual } of times) Object.assign(endpoint, usual);
	});
	return ({ timeoutMs, ...limits }) => {
		Object.assign(DEFAULT_RETRY_LIMITS, limits);
		if (timeoutMs === undefined) return;
		for (const { endpoint } of times) Object.assign(endpoint, { timeoutMs });
	};
}
