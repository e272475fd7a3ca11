#include "collector/enrich/geo/continent.h"

/*
 * Countries by their first letter: the second letter, then the continent's
 * letter.  GeoNames decides the continent of a country that lies on two, as
 * MaxMind does.
 */
static const char *const countries[26] = {
	['A' - 'A'] = "DeEaFaGnInLeMaOfQtRsSoTeUoWnXeZa",
	['B' - 'A'] = "AeBnDaEeFfGeHaIfJfLnMnNaOsQnRsSnTaVtWfYeZn",
	['C' - 'A'] = "AnCaDfFfGfHeIfKoLsMfNaOsRnUnVfWnXoYeZe",
	['D' - 'A'] = "EeJfKeMnOnZf",
	['E' - 'A'] = "CsEeGfHfRfSeTf",
	['F' - 'A'] = "IeJoKsMoOeRe",
	['G' - 'A'] = "AfBeDnEaFsGeHfIeLnMfNfPnQfReStTnUoWfYs",
	['H' - 'A'] = "KaMtNnReTnUe",
	['I' - 'A'] = "DaEeLaMeNaOaQaRaSeTe",
	['J' - 'A'] = "EeMnOaPa",
	['K' - 'A'] = "EfGaHaIoMfNnPaRaWaYnZa",
	['L' - 'A'] = "AaBaCnIeKaRfSfTeUeVeYf",
	['M' - 'A'] = "AfCeDeEeFnGfHoKeLfMaNaOaPoQnRfSnTeUfVaWfXnYaZf",
	['N' - 'A'] = "AfCoEfFoGfInLeOePaRoUoZo",
	['O' - 'A'] = "Ma",
	['P' - 'A'] = "AnEsFoGoHaKaLeMnNoRnSaTeWoYs",
	['Q' - 'A'] = "Aa",
	['R' - 'A'] = "EfOeSeUeWf",
	['S' - 'A'] = "AaBoCfDfEeGaHfIeJeKeLfMeNfOfRsSfTfVnXnYaZf",
	['T' - 'A'] = "CnDfFtGfHaJaKoLoMaNfOoRaTnVoWaZf",
	['U' - 'A'] = "AeGfMoSnYsZa",
	['V' - 'A'] = "AeCnEsGnInNaUo",
	['W' - 'A'] = "FoSo",
	['X' - 'A'] = "Ke",
	['Y' - 'A'] = "EaTf",
	['Z' - 'A'] = "AfMfWf",
};

static const char *continent_name(char letter)
{
	switch (letter) {
	case 'e':
		return "EU";
	case 'a':
		return "AS";
	case 'n':
		return "NA";
	case 'f':
		return "AF";
	case 's':
		return "SA";
	case 'o':
		return "OC";
	default:
		return "AN";
	}
}

struct geo_text continent_of(struct geo_text country)
{
	const char *at;

	if (country.len != 2 || country.data[0] < 'A' || country.data[0] > 'Z')
		return (struct geo_text){"", 0};
	for (at = countries[country.data[0] - 'A']; *at; at += 2)
		if (*at == country.data[1])
			return (struct geo_text){continent_name(at[1]), 2};
	return (struct geo_text){"", 0};
}
