import { adAttribution } from './ad-attribution';
import { accessByHttp, sellAndDeliver } from './access';
import { salesAssistant } from './assistant';
import { catalogToSheet } from './catalog';
import { chargeByEmail } from './charge-by-email';
import { chargeByEvolutionApi, chargeByWhatsApp } from './charge-by-whatsapp';
import { chargeListFromSheet } from './charge-list';
import { errorsToTelegram } from './errors-to-telegram';
import { paidSale } from './paid-sale';
import { reconciliation } from './reconciliation';
import { paymentPageRecipe } from './payment-page';
import { recoverCheckoutPix } from './recover-checkout-pix';
import { recoverUnpaidPix } from './recover-unpaid-pix';
import { pages } from './page';
import { LANGUAGES, render, type Recipe } from './workflow';

/** The recipes, by the name of their file, in the order in which a seller would want them. */
export const RECIPES: Record<string, Recipe> = {
	'payment-page': paymentPageRecipe,
	'sell-and-deliver': sellAndDeliver,
	'charge-by-whatsapp': chargeByWhatsApp,
	'charge-by-evolution-api': chargeByEvolutionApi,
	'charge-by-email': chargeByEmail,
	'charge-list-from-google-sheets': chargeListFromSheet,
	'recover-unpaid-pix': recoverUnpaidPix,
	'recover-checkout-pix': recoverCheckoutPix,
	'paid-sale': paidSale,
	'ad-attribution': adAttribution,
	'access-by-http': accessByHttp,
	'errors-to-telegram': errorsToTelegram,
	'catalog-to-google-sheets': catalogToSheet,
	reconciliation,
	'ai-sales-assistant': salesAssistant,
};

export function recipeOf(name: string): Recipe {
	const recipe = RECIPES[name];
	if (!recipe) throw new Error(`There is no recipe ${name}`);
	return recipe;
}

/** Every file of the examples that is made from a recipe, with its text. */
export function files(): Record<string, string> {
	const workflows = LANGUAGES.flatMap((language) =>
		Object.entries(RECIPES).map(([name, recipe]) => [
			`${language}/${name}.json`,
			`${JSON.stringify(render(recipe, name, language), null, '\t')}\n`,
		]),
	);
	return { ...Object.fromEntries(workflows), ...pages(RECIPES) };
}
