/* Special functions. Made of the formulas in ops/formulas, with which numpy evaluates them too:
 * python -m tracegrad.ops.formulas.write_header */
#ifndef TG_SPECIAL_H
#define TG_SPECIAL_H

#include <math.h>

#include "tg_inline.h"
#include "tg_math_double.h"

#define TG_SPECIAL __attribute__((unused, noinline)) static

/* The highest coefficient first. */
TG_INLINE double tg_special_sum_powers(const double *c, int n, double x)
{
    double value = x * c[0] + c[1];
    for (int i = 2; i < n; ++i)
    {
        value = value * x + c[i];
    }
    return value;
}

/* A sum of Chebyshev polynomials by Clenshaw's recurrence, the highest degree first. */
TG_INLINE double tg_special_sum_chebyshev(const double *c, int n, double x)
{
    const double twice = x + x;
    double before = 0.0;
    double last = c[0];
    for (int i = 1; i < n - 1; ++i)
    {
        const double next = twice * last - before + c[i];
        before = last;
        last = next;
    }
    return x * last - before + c[n - 1];
}

TG_INLINE double tg_special_i0e(double x)
{
    const int is1 = x != x;
    const double v2 = fabs(x);
    const int is3 = v2 <= 8.0;
    const double v4 = is3 ? v2 : 8.0;
    const int is5 = v2 <= 8.0;
    const double v6 = is5 ? 8.0 : v2;
    const double v7 = v4 * 0.25;
    const double v8 = v7 - 1.0;
    const double v9 = v8 + v8;
    const double v10 = v9 * (-4.4153416464793395e-18) - 0.0 + 3.3307945188222384e-17;
    const double v11 = v9 * v10 - (-4.4153416464793395e-18) + (-2.431279846547955e-16);
    const double v12 = v9 * v11 - v10 + 1.715391285555133e-15;
    const double v13 = v9 * v12 - v11 + (-1.1685332877993451e-14);
    const double v14 = v9 * v13 - v12 + 7.676185498604936e-14;
    const double v15 = v9 * v14 - v13 + (-4.856446783111929e-13);
    const double v16 = v9 * v15 - v14 + 2.95505266312964e-12;
    const double v17 = v9 * v16 - v15 + (-1.726826291441556e-11);
    const double v18 = v9 * v17 - v16 + 9.675809035373237e-11;
    const double v19 = v9 * v18 - v17 + (-5.189795601635263e-10);
    const double v20 = v9 * v19 - v18 + 2.6598237246823866e-09;
    const double v21 = v9 * v20 - v19 + (-1.300025009986248e-08);
    const double v22 = v9 * v21 - v20 + 6.046995022541919e-08;
    const double v23 = v9 * v22 - v21 + (-2.670793853940612e-07);
    const double v24 = v9 * v23 - v22 + 1.1173875391201037e-06;
    const double v25 = v9 * v24 - v23 + (-4.4167383584587505e-06);
    const double v26 = v9 * v25 - v24 + 1.6448448070728896e-05;
    const double v27 = v9 * v26 - v25 + (-5.754195010082104e-05);
    const double v28 = v9 * v27 - v26 + 0.00018850288509584165;
    const double v29 = v9 * v28 - v27 + (-0.0005763755745385824);
    const double v30 = v9 * v29 - v28 + 0.0016394756169413357;
    const double v31 = v9 * v30 - v29 + (-0.004324309995050576);
    const double v32 = v9 * v31 - v30 + 0.010546460394594998;
    const double v33 = v9 * v32 - v31 + (-0.02373741480589947);
    const double v34 = v9 * v33 - v32 + 0.04930528423967071;
    const double v35 = v9 * v34 - v33 + (-0.09490109704804764);
    const double v36 = v9 * v35 - v34 + 0.17162090152220877;
    const double v37 = v9 * v36 - v35 + (-0.3046826723431984);
    const double v38 = v8 * v37 - v36 + 0.33839763720473803;
    const double v39 = 1.0 * v38;
    const int is40 = v2 <= 8.0;
    const double v41 = 16.0 / v6;
    const double v42 = v41 - 1.0;
    const double v43 = v42 + v42;
    const double v44 = v43 * (-7.233180487874754e-18) - 0.0 + (-4.830504485944182e-18);
    const double v45 = v43 * v44 - (-7.233180487874754e-18) + 4.46562142029676e-17;
    const double v46 = v43 * v45 - v44 + 3.461222867697461e-17;
    const double v47 = v43 * v46 - v45 + (-2.8276239805165836e-16);
    const double v48 = v43 * v47 - v46 + (-3.425485619677219e-16);
    const double v49 = v43 * v48 - v47 + 1.7725601330565263e-15;
    const double v50 = v43 * v49 - v48 + 3.8116806693526224e-15;
    const double v51 = v43 * v50 - v49 + (-9.554846698828307e-15);
    const double v52 = v43 * v51 - v50 + (-4.150569347287222e-14);
    const double v53 = v43 * v52 - v51 + 1.54008621752141e-14;
    const double v54 = v43 * v53 - v52 + 3.8527783827421426e-13;
    const double v55 = v43 * v54 - v53 + 7.180124451383666e-13;
    const double v56 = v43 * v55 - v54 + (-1.7941785315068062e-12);
    const double v57 = v43 * v56 - v55 + (-1.3215811840447713e-11);
    const double v58 = v43 * v57 - v56 + (-3.1499165279632416e-11);
    const double v59 = v43 * v58 - v57 + 1.1889147107846439e-11;
    const double v60 = v43 * v59 - v58 + 4.94060238822497e-10;
    const double v61 = v43 * v60 - v59 + 3.3962320257083865e-09;
    const double v62 = v43 * v61 - v60 + 2.266668990498178e-08;
    const double v63 = v43 * v62 - v61 + 2.0489185894690638e-07;
    const double v64 = v43 * v63 - v62 + 2.8913705208347567e-06;
    const double v65 = v43 * v64 - v63 + 6.889758346916825e-05;
    const double v66 = v43 * v65 - v64 + 0.0033691164782556943;
    const double v67 = v42 * v66 - v65 + 0.4022452055070544;
    const double v68 = sqrt(v6);
    const double v69 = v67 / v68;
    const double v70 = is40 ? v39 : v69;
    const double v71 = is1 ? x : v70;
    return v71;
}
TG_INLINE float tg_special_i0ef(float x) { return (float)tg_special_i0e((double)x); }

TG_INLINE double tg_special_i1e(double x)
{
    const double v1 = fabs(x);
    const int is2 = v1 <= 8.0;
    const double v3 = is2 ? v1 : 8.0;
    const int is4 = v1 <= 8.0;
    const double v5 = is4 ? v1 : 8.0;
    const int is6 = v1 <= 8.0;
    const double v7 = is6 ? 8.0 : v1;
    const double v8 = v5 * 0.25;
    const double v9 = v8 - 1.0;
    const double v10 = v9 + v9;
    const double v11 = v10 * 2.7779141127610464e-18 - 0.0 + (-2.111421214358166e-17);
    const double v12 = v10 * v11 - 2.7779141127610464e-18 + 1.5536319577362005e-16;
    const double v13 = v10 * v12 - v11 + (-1.1055969477353862e-15);
    const double v14 = v10 * v13 - v12 + 7.600684294735408e-15;
    const double v15 = v10 * v14 - v13 + (-5.042185504727912e-14);
    const double v16 = v10 * v15 - v14 + 3.223793365945575e-13;
    const double v17 = v10 * v16 - v15 + (-1.9839743977649436e-12);
    const double v18 = v10 * v17 - v16 + 1.1736186298890901e-11;
    const double v19 = v10 * v18 - v17 + (-6.663489723502027e-11);
    const double v20 = v10 * v19 - v18 + 3.625590281552117e-10;
    const double v21 = v10 * v20 - v19 + (-1.8872497517228294e-09);
    const double v22 = v10 * v21 - v20 + 9.381537386495773e-09;
    const double v23 = v10 * v22 - v21 + (-4.445059128796328e-08);
    const double v24 = v10 * v23 - v22 + 2.0032947535521353e-07;
    const double v25 = v10 * v24 - v23 + (-8.568720264695455e-07);
    const double v26 = v10 * v25 - v24 + 3.4702513081376785e-06;
    const double v27 = v10 * v26 - v25 + (-1.3273163656039436e-05);
    const double v28 = v10 * v27 - v26 + 4.781565107550054e-05;
    const double v29 = v10 * v28 - v27 + (-0.00016176081582589674);
    const double v30 = v10 * v29 - v28 + 0.0005122859561685758;
    const double v31 = v10 * v30 - v29 + (-0.0015135724506312532);
    const double v32 = v10 * v31 - v30 + 0.004156422944312888;
    const double v33 = v10 * v32 - v31 + (-0.010564084894626197);
    const double v34 = v10 * v33 - v32 + 0.024726449030626516;
    const double v35 = v10 * v34 - v33 + (-0.05294598120809499);
    const double v36 = v10 * v35 - v34 + 0.1026436586898471;
    const double v37 = v10 * v36 - v35 + (-0.17641651835783406);
    const double v38 = v9 * v37 - v36 + 0.12629359322181682;
    const double v39 = v3 * v38;
    const int is40 = v1 <= 8.0;
    const double v41 = 16.0 / v7;
    const double v42 = v41 - 1.0;
    const double v43 = v42 + v42;
    const double v44 = v43 * 7.517296310842104e-18 - 0.0 + 4.414348323071708e-18;
    const double v45 = v43 * v44 - 7.517296310842104e-18 + (-4.650305368489358e-17);
    const double v46 = v43 * v45 - v44 + (-3.209525921993424e-17);
    const double v47 = v43 * v46 - v45 + 2.96262899764595e-16;
    const double v48 = v43 * v47 - v46 + 3.3082023109209285e-16;
    const double v49 = v43 * v48 - v47 + (-1.8803547755107825e-15);
    const double v50 = v43 * v49 - v48 + (-3.8144030724370075e-15);
    const double v51 = v43 * v50 - v49 + 1.0420276984128802e-14;
    const double v52 = v43 * v51 - v50 + 4.272440016711951e-14;
    const double v53 = v43 * v52 - v51 + (-2.1015418427726643e-14);
    const double v54 = v43 * v53 - v52 + (-4.0835511110921974e-13);
    const double v55 = v43 * v54 - v53 + (-7.198551776245908e-13);
    const double v56 = v43 * v55 - v54 + 2.0356285441470896e-12;
    const double v57 = v43 * v56 - v55 + 1.4125807436613782e-11;
    const double v58 = v43 * v57 - v56 + 3.2526035830154884e-11;
    const double v59 = v43 * v58 - v57 + (-1.8974958123505413e-11);
    const double v60 = v43 * v59 - v58 + (-5.589743462196584e-10);
    const double v61 = v43 * v60 - v59 + (-3.835380385964237e-09);
    const double v62 = v43 * v61 - v60 + (-2.6314688468895196e-08);
    const double v63 = v43 * v62 - v61 + (-2.512236237870209e-07);
    const double v64 = v43 * v63 - v62 + (-3.882564808877691e-06);
    const double v65 = v43 * v64 - v63 + (-0.00011058893876262371);
    const double v66 = v43 * v65 - v64 + (-0.009761097491361469);
    const double v67 = v42 * v66 - v65 + 0.38928811750914005;
    const double v68 = sqrt(v7);
    const double v69 = v67 / v68;
    const double v70 = is40 ? v39 : v69;
    const int is71 = x != x;
    const int is72 = x < 0.0;
    const double v73 = -v70;
    const double v74 = is72 ? v73 : v70;
    const double v75 = is71 ? x : v74;
    return v75;
}
TG_INLINE float tg_special_i1ef(float x) { return (float)tg_special_i1e((double)x); }

TG_INLINE double tg_special_i0(double x)
{
    const double v1 = tg_special_i0e(x);
    const double v2 = fabs(x);
    const double v3 = tg_exp(v2);
    const double v4 = v3 * v1;
    return v4;
}
TG_INLINE float tg_special_i0f(float x) { return (float)tg_special_i0((double)x); }

TG_INLINE double tg_special_i1(double x)
{
    const double v1 = tg_special_i1e(x);
    const double v2 = fabs(x);
    const double v3 = tg_exp(v2);
    const double v4 = v3 * v1;
    return v4;
}
TG_INLINE float tg_special_i1f(float x) { return (float)tg_special_i1((double)x); }

TG_SPECIAL double tg_special_spherical_bessel_j0(double x)
{
    const int is1 = x == 0.0;
    const double v2 = is1 ? 1.0 : x;
    const int is3 = x == 0.0;
    const double v4 = sin(v2);
    const double v5 = v4 / v2;
    const double v6 = is3 ? 1.0 : v5;
    const double v7 = fabs(x);
    const int is8 = v7 == INFINITY;
    const double v9 = is8 ? 0.0 : v6;
    return v9;
}
TG_INLINE float tg_special_spherical_bessel_j0f(float x) { return (float)tg_special_spherical_bessel_j0((double)x); }

__attribute__((unused)) static const double tg_special_table_bessel_j0_0[17] = {
    1.2218515873961411e-17, (-7.588508125447546e-16), 4.125320595634374e-14, (-1.9438346867370164e-12),
    7.848696314479465e-11, (-2.679253530557673e-09), 7.608163592418782e-08, (-1.7619469077621507e-06),
    3.246032882100508e-05, (-0.00046062616620627504), 0.004819180069467605, (-0.034893769411408884),
    0.15806710233209725, (-0.37009499387264977), 0.2651786132033368, (-0.008723442352852221),
    0.15772797147489012};
__attribute__((unused)) static const double tg_special_table_bessel_j0_1[13] = {
    1.6305919233744186e-17, (-1.0011513723467786e-16), 6.748072215733873e-16, (-5.069034095935236e-15),
    4.3265957431549404e-14, (-4.3045788699253914e-13), 5.168262387349193e-12, (-7.86409137723707e-11),
    1.6306464635151382e-09, (-5.1705945376060975e-08), 3.0751847875194745e-06, (-0.0005365220468132117),
    0.9994603493475187};
__attribute__((unused)) static const double tg_special_table_bessel_j0_2[16] = {
    1.047315897377605e-18, (-4.952892629886514e-18), 2.4865952389390515e-17, (-1.3348852171502517e-16),
    7.729703176242605e-16, (-4.87994410531204e-15), 3.4041800321963686e-14, (-2.6690625482579414e-13),
    2.404916100281365e-12, (-2.565397936797308e-11), 3.376097523734991e-10, (-5.817532749493056e-09),
    1.4377965798375193e-07, (-5.9315987288485175e-06), 0.0005470815954089319, (-0.12444683684269607)};
TG_SPECIAL double tg_special_bessel_j0(double x)
{
    const double v1 = fabs(x);
    const int is2 = v1 < 8.0;
    const double v3 = is2 ? v1 : 8.0;
    const double v4 = v3 * v3;
    const double v5 = v4 / 32.0;
    const double v6 = v5 - 1.0;
    const double v7 = tg_special_sum_chebyshev(tg_special_table_bessel_j0_0, 17, v6);
    const int is8 = v1 < 8.0;
    const double v9 = is8 ? 8.0 : v1;
    const double v10 = v9 * v9;
    const double v11 = 128.0 / v10;
    const double v12 = v11 - 1.0;
    const double v13 = tg_special_sum_chebyshev(tg_special_table_bessel_j0_1, 13, v12);
    const double v14 = tg_special_sum_chebyshev(tg_special_table_bessel_j0_2, 16, v12);
    const double v15 = v14 / v9;
    const double v16 = sin(v9);
    const double v17 = cos(v9);
    const double v18 = 1.0 * v17;
    const double v19 = v18 + v16;
    const double v20 = 1.0 * v16;
    const double v21 = v20 - v17;
    const double v22 = 3.141592653589793 * v9;
    const double v23 = 1.0 / v22;
    const double v24 = sqrt(v23);
    const double v25 = v13 * v19;
    const double v26 = v15 * v21;
    const double v27 = v25 - v26;
    const double v28 = v24 * v27;
    const int is33 = v1 < 8.0;
    const double v34 = is33 ? v7 : v28;
    return v34;
}
TG_INLINE float tg_special_bessel_j0f(float x) { return (float)tg_special_bessel_j0((double)x); }

__attribute__((unused)) static const double tg_special_table_bessel_j1_0[16] = {
    (-2.4441972916190464e-17), 1.4232144003513942e-15, (-7.221755239651773e-14), 3.160154580348003e-12,
    (-1.178026622695885e-10), 3.687133759097148e-09, (-9.521984756750436e-08), 1.9858774049915165e-06,
    (-3.255554866857259e-05), 0.0004050337728354822, (-0.003646940600769276), 0.022213639654966037,
    (-0.08268049176681791), 0.1609992623572097, (-0.1489751450676521), 0.08104484632565812};
__attribute__((unused)) static const double tg_special_table_bessel_j1_1[13] = {
    (-1.7312313216116335e-17), 1.0667689114335412e-16, (-7.221180842274018e-16), 5.452674896044717e-15,
    (-4.6842237839904895e-14), 4.699195515230542e-13, (-5.704863640395645e-12), 8.816898659582339e-11,
    (-1.8718907491063067e-09), 6.177633960644299e-08, (-3.987284300488908e-06), 0.0008989898330859408,
    1.0009030408600137};
__attribute__((unused)) static const double tg_special_table_bessel_j1_2[15] = {
    5.219264919671406e-18, (-2.626761589838529e-17), 1.4141084390211833e-16, (-8.215318025458595e-16),
    5.206626366226707e-15, (-3.649001916061838e-14), 2.8774212663332235e-13, (-2.61145253946232e-12),
    2.8121750359748866e-11, (-3.749090950541556e-10), 6.583354662120443e-09, (-1.676782510726674e-07),
    7.3108922063643636e-06, (-0.0007702178839325664), 0.3742222965562826};
TG_SPECIAL double tg_special_bessel_j1(double x)
{
    const double v1 = fabs(x);
    const int is2 = v1 < 8.0;
    const double v3 = is2 ? x : 8.0;
    const double v4 = v3 * v3;
    const double v5 = v4 / 32.0;
    const double v6 = v5 - 1.0;
    const double v7 = tg_special_sum_chebyshev(tg_special_table_bessel_j1_0, 16, v6);
    const double v8 = v3 * v7;
    const int is9 = v1 < 8.0;
    const double v10 = is9 ? 8.0 : v1;
    const double v11 = v10 * v10;
    const double v12 = 128.0 / v11;
    const double v13 = v12 - 1.0;
    const double v14 = tg_special_sum_chebyshev(tg_special_table_bessel_j1_1, 13, v13);
    const double v15 = tg_special_sum_chebyshev(tg_special_table_bessel_j1_2, 15, v13);
    const double v16 = v15 / v10;
    const double v17 = sin(v10);
    const double v18 = cos(v10);
    const double v19 = (-1.0) * v18;
    const double v20 = v19 + v17;
    const double v21 = (-1.0) * v17;
    const double v22 = v21 - v18;
    const double v23 = 3.141592653589793 * v10;
    const double v24 = 1.0 / v23;
    const double v25 = sqrt(v24);
    const double v26 = v14 * v20;
    const double v27 = v16 * v22;
    const double v28 = v26 - v27;
    const double v29 = v25 * v28;
    const int is34 = v1 < 8.0;
    const int is35 = x < 0.0;
    const double v36 = -v29;
    const double v37 = is35 ? v36 : v29;
    const double v38 = is34 ? v8 : v37;
    return v38;
}
TG_INLINE float tg_special_bessel_j1f(float x) { return (float)tg_special_bessel_j1((double)x); }

__attribute__((unused)) static const double tg_special_table_bessel_y0_0[17] = {
    (-2.6977881152566837e-17), 1.6434898714919468e-15, (-8.747341203310769e-14), 4.02633081830612e-12,
    (-1.5837552541812015e-10), 5.248794787330516e-09, (-1.44072332740187e-07), 3.206532537654801e-06,
    (-5.632079141056987e-05), 0.0007531135932577742, (-0.007287962479552079), 0.04719668959576339,
    (-0.17730201278114358), 0.26156734625504663, 0.17903431407718265, (-0.2744743055297453),
    (-0.03314611320328494)};
__attribute__((unused)) static const double tg_special_table_bessel_y0_1[13] = {
    1.6305919233744186e-17, (-1.0011513723467786e-16), 6.748072215733873e-16, (-5.069034095935236e-15),
    4.3265957431549404e-14, (-4.3045788699253914e-13), 5.168262387349193e-12, (-7.86409137723707e-11),
    1.6306464635151382e-09, (-5.1705945376060975e-08), 3.0751847875194745e-06, (-0.0005365220468132117),
    0.9994603493475187};
__attribute__((unused)) static const double tg_special_table_bessel_y0_2[16] = {
    1.047315897377605e-18, (-4.952892629886514e-18), 2.4865952389390515e-17, (-1.3348852171502517e-16),
    7.729703176242605e-16, (-4.87994410531204e-15), 3.4041800321963686e-14, (-2.6690625482579414e-13),
    2.404916100281365e-12, (-2.565397936797308e-11), 3.376097523734991e-10, (-5.817532749493056e-09),
    1.4377965798375193e-07, (-5.9315987288485175e-06), 0.0005470815954089319, (-0.12444683684269607)};
TG_SPECIAL double tg_special_bessel_y0(double x)
{
    const int is1 = x > 0.0;
    const int is2 = x < 8.0;
    const int is3 = is1 & is2;
    const double v4 = is3 ? x : 1.0;
    const double v5 = tg_log(v4);
    const double v6 = 0.6366197723675814 * v5;
    const double v7 = tg_special_bessel_j0(v4);
    const double v8 = v6 * v7;
    const double v9 = v4 * v4;
    const double v10 = v9 / 32.0;
    const double v11 = v10 - 1.0;
    const double v12 = tg_special_sum_chebyshev(tg_special_table_bessel_y0_0, 17, v11);
    const double v13 = v8 + v12;
    const int is14 = x < 8.0;
    const double v15 = is14 ? 8.0 : x;
    const double v16 = v15 * v15;
    const double v17 = 128.0 / v16;
    const double v18 = v17 - 1.0;
    const double v19 = tg_special_sum_chebyshev(tg_special_table_bessel_y0_1, 13, v18);
    const double v20 = tg_special_sum_chebyshev(tg_special_table_bessel_y0_2, 16, v18);
    const double v21 = v20 / v15;
    const double v22 = sin(v15);
    const double v23 = cos(v15);
    const double v24 = 1.0 * v23;
    const double v25 = v24 + v22;
    const double v26 = 1.0 * v22;
    const double v27 = v26 - v23;
    const double v28 = 3.141592653589793 * v15;
    const double v29 = 1.0 / v28;
    const double v30 = sqrt(v29);
    const double v35 = v19 * v27;
    const double v36 = v21 * v25;
    const double v37 = v35 + v36;
    const double v38 = v30 * v37;
    const int is39 = x < 8.0;
    const double v40 = is39 ? v13 : v38;
    const int is41 = x > 0.0;
    const int is42 = x == 0.0;
    const double v43 = is42 ? (-INFINITY) : NAN;
    const double v44 = is41 ? v40 : v43;
    return v44;
}
TG_INLINE float tg_special_bessel_y0f(float x) { return (float)tg_special_bessel_y0((double)x); }

__attribute__((unused)) static const double tg_special_table_bessel_y1_0[17] = {
    (-8.224911372021585e-19), 5.34668038572867e-17, (-3.0511859694473254e-15), 1.51429151205002e-13,
    (-6.4651518414115946e-12), 2.344337905911516e-10, (-7.11055004989928e-09), 1.7707804556154404e-07,
    (-3.53808001868935e-06), 5.505982873338744e-05, (-0.0006414551451326356), 0.005289897544167113,
    (-0.028328123944594365), 0.08445197259652346, (-0.09591204536083074), (-0.01608717304766875),
    0.0025380132357417816};
__attribute__((unused)) static const double tg_special_table_bessel_y1_1[13] = {
    (-1.7312313216116335e-17), 1.0667689114335412e-16, (-7.221180842274018e-16), 5.452674896044717e-15,
    (-4.6842237839904895e-14), 4.699195515230542e-13, (-5.704863640395645e-12), 8.816898659582339e-11,
    (-1.8718907491063067e-09), 6.177633960644299e-08, (-3.987284300488908e-06), 0.0008989898330859408,
    1.0009030408600137};
__attribute__((unused)) static const double tg_special_table_bessel_y1_2[15] = {
    5.219264919671406e-18, (-2.626761589838529e-17), 1.4141084390211833e-16, (-8.215318025458595e-16),
    5.206626366226707e-15, (-3.649001916061838e-14), 2.8774212663332235e-13, (-2.61145253946232e-12),
    2.8121750359748866e-11, (-3.749090950541556e-10), 6.583354662120443e-09, (-1.676782510726674e-07),
    7.3108922063643636e-06, (-0.0007702178839325664), 0.3742222965562826};
TG_SPECIAL double tg_special_bessel_y1(double x)
{
    const int is1 = x > 0.0;
    const int is2 = x < 8.0;
    const int is3 = is1 & is2;
    const double v4 = is3 ? x : 1.0;
    const double v5 = v4 * v4;
    const double v6 = v5 / 32.0;
    const double v7 = v6 - 1.0;
    const double v8 = tg_special_sum_chebyshev(tg_special_table_bessel_y1_0, 17, v7);
    const double v9 = v4 * v8;
    const double v10 = tg_log(v4);
    const double v11 = tg_special_bessel_j1(v4);
    const double v12 = v10 * v11;
    const double v13 = 1.0 / v4;
    const double v14 = v12 - v13;
    const double v15 = 0.6366197723675814 * v14;
    const double v16 = v15 + v9;
    const int is17 = x < 8.0;
    const double v18 = is17 ? 8.0 : x;
    const double v19 = v18 * v18;
    const double v20 = 128.0 / v19;
    const double v21 = v20 - 1.0;
    const double v22 = tg_special_sum_chebyshev(tg_special_table_bessel_y1_1, 13, v21);
    const double v23 = tg_special_sum_chebyshev(tg_special_table_bessel_y1_2, 15, v21);
    const double v24 = v23 / v18;
    const double v25 = sin(v18);
    const double v26 = cos(v18);
    const double v27 = (-1.0) * v26;
    const double v28 = v27 + v25;
    const double v29 = (-1.0) * v25;
    const double v30 = v29 - v26;
    const double v31 = 3.141592653589793 * v18;
    const double v32 = 1.0 / v31;
    const double v33 = sqrt(v32);
    const double v38 = v22 * v30;
    const double v39 = v24 * v28;
    const double v40 = v38 + v39;
    const double v41 = v33 * v40;
    const int is42 = x < 8.0;
    const double v43 = is42 ? v16 : v41;
    const int is44 = x > 0.0;
    const int is45 = x == 0.0;
    const double v46 = is45 ? (-INFINITY) : NAN;
    const double v47 = is44 ? v43 : v46;
    return v47;
}
TG_INLINE float tg_special_bessel_y1f(float x) { return (float)tg_special_bessel_y1((double)x); }

TG_INLINE double tg_special_k0_near(double x)
{
    const double v1 = x * x;
    const double v2 = v1 * 0.5;
    const double v3 = v2 - 1.0;
    const double v4 = v3 + v3;
    const double v5 = v4 * 1.3744654358807508e-16 - 0.0 + 4.2598161427910826e-14;
    const double v6 = v4 * v5 - 1.3744654358807508e-16 + 1.0349695257633625e-11;
    const double v7 = v4 * v6 - v5 + 1.904516377220209e-09;
    const double v8 = v4 * v7 - v6 + 2.5347910790261494e-07;
    const double v9 = v4 * v8 - v7 + 2.286212103119452e-05;
    const double v10 = v4 * v9 - v8 + 0.001264615411446926;
    const double v11 = v4 * v10 - v9 + 0.0359799365153615;
    const double v12 = v4 * v11 - v10 + 0.3442898999246285;
    const double v13 = v3 * v12 - v11 + (-0.2676636966169514);
    const double v14 = 0.5 * x;
    const double v15 = tg_log(v14);
    const double v16 = tg_special_i0(x);
    const double v17 = v15 * v16;
    const double v18 = v13 - v17;
    return v18;
}
TG_INLINE float tg_special_k0_nearf(float x) { return (float)tg_special_k0_near((double)x); }

TG_INLINE double tg_special_k1_near(double x)
{
    const double v1 = x * x;
    const double v2 = v1 * 0.5;
    const double v3 = v2 - 1.0;
    const double v4 = v3 + v3;
    const double v5 = v4 * (-7.023863479386288e-18) - 0.0 + (-2.427449850519366e-15);
    const double v6 = v4 * v5 - (-7.023863479386288e-18) + (-6.666901694199329e-13);
    const double v7 = v4 * v6 - v5 + (-1.4114883926335278e-10);
    const double v8 = v4 * v7 - v6 + (-2.213387630734726e-08);
    const double v9 = v4 * v8 - v7 + (-2.4334061415659684e-06);
    const double v10 = v4 * v9 - v8 + (-0.0001730288957513052);
    const double v11 = v4 * v10 - v9 + (-0.006975723859639864);
    const double v12 = v4 * v11 - v10 + (-0.12261118082265715);
    const double v13 = v4 * v12 - v11 + (-0.3531559607765449);
    const double v14 = v3 * v13 - v12 + 0.7626501136694739;
    const double v15 = v14 / x;
    const double v16 = 0.5 * x;
    const double v17 = tg_log(v16);
    const double v18 = tg_special_i1(x);
    const double v19 = v17 * v18;
    const double v20 = v15 + v19;
    return v20;
}
TG_INLINE float tg_special_k1_nearf(float x) { return (float)tg_special_k1_near((double)x); }

TG_INLINE double tg_special_modified_bessel_k0(double x)
{
    const int is1 = x > 0.0;
    const int is2 = x <= 2.0;
    const int is3 = is1 & is2;
    const double v4 = is3 ? x : 1.0;
    const int is5 = x > 2.0;
    const double v6 = is5 ? x : 2.0;
    const double v7 = tg_special_k0_near(v4);
    const double v8 = 4.0 / v6;
    const double v9 = v8 - 1.0;
    const double v10 = v9 + v9;
    const double v11 = v10 * 5.3004337711773354e-18 - 0.0 + (-1.6475805939842632e-17);
    const double v12 = v10 * v11 - 5.3004337711773354e-18 + 5.2103917776435543e-17;
    const double v13 = v10 * v12 - v11 + (-1.6782311257549006e-16);
    const double v14 = v10 * v13 - v12 + 5.5120559994043335e-16;
    const double v15 = v10 * v14 - v13 + (-1.848593377920907e-15);
    const double v16 = v10 * v15 - v14 + 6.340076476276646e-15;
    const double v17 = v10 * v16 - v15 + (-2.2275133267462965e-14);
    const double v18 = v10 * v17 - v16 + 8.032890775068375e-14;
    const double v19 = v10 * v18 - v17 + (-2.9800969231481784e-13);
    const double v20 = v10 * v19 - v18 + 1.1403405882073441e-12;
    const double v21 = v10 * v20 - v19 + (-4.514597883374519e-12);
    const double v22 = v10 * v21 - v20 + 1.8559491149549264e-11;
    const double v23 = v10 * v22 - v21 + (-7.957489244477396e-11);
    const double v24 = v10 * v23 - v22 + 3.5773972814003283e-10;
    const double v25 = v10 * v24 - v23 + (-1.6975345093890614e-09);
    const double v26 = v10 * v25 - v24 + 8.574034017414225e-09;
    const double v27 = v10 * v26 - v25 + (-4.660489897687948e-08);
    const double v28 = v10 * v27 - v26 + 2.766813639445015e-07;
    const double v29 = v10 * v28 - v27 + (-1.8317555227191195e-06);
    const double v30 = v10 * v29 - v28 + 1.39498137188765e-05;
    const double v31 = v10 * v30 - v29 + (-0.00012849549581627802);
    const double v32 = v10 * v31 - v30 + 0.0015698838857300533;
    const double v33 = v10 * v32 - v31 + (-0.0314481013119645);
    const double v34 = v9 * v33 - v32 + 1.2201515410329777;
    const double v35 = sqrt(v6);
    const double v36 = v34 / v35;
    const int is37 = x <= 2.0;
    const double v38 = -v6;
    const double v39 = tg_exp(v38);
    const double v40 = v39 * v36;
    const double v41 = is37 ? v7 : v40;
    const int is42 = x == INFINITY;
    const double v43 = is42 ? 0.0 : v41;
    const int is44 = x > 0.0;
    const int is45 = x == 0.0;
    const double v46 = is45 ? INFINITY : NAN;
    const double v47 = is44 ? v43 : v46;
    return v47;
}
TG_INLINE float tg_special_modified_bessel_k0f(float x) { return (float)tg_special_modified_bessel_k0((double)x); }

TG_INLINE double tg_special_modified_bessel_k1(double x)
{
    const int is1 = x > 0.0;
    const int is2 = x <= 2.0;
    const int is3 = is1 & is2;
    const double v4 = is3 ? x : 1.0;
    const int is5 = x > 2.0;
    const double v6 = is5 ? x : 2.0;
    const double v7 = tg_special_k1_near(v4);
    const double v8 = 4.0 / v6;
    const double v9 = v8 - 1.0;
    const double v10 = v9 + v9;
    const double v11 = v10 * (-5.7567444820733025e-18) - 0.0 + 1.7940510478863572e-17;
    const double v12 = v10 * v11 - (-5.7567444820733025e-18) + (-5.689462849193648e-17);
    const double v13 = v10 * v12 - v11 + 1.8380935752430455e-16;
    const double v14 = v10 * v13 - v12 + (-6.057047270643018e-16);
    const double v15 = v10 * v14 - v13 + 2.038703166239861e-15;
    const double v16 = v10 * v15 - v14 + (-7.0198370892147685e-15);
    const double v17 = v10 * v16 - v15 + 2.4771544242195988e-14;
    const double v18 = v10 * v17 - v16 + (-8.976705182010146e-14);
    const double v19 = v10 * v18 - v17 + 3.348419666052243e-13;
    const double v20 = v10 * v19 - v18 + (-1.2891739609498229e-12);
    const double v21 = v10 * v20 - v19 + 5.139639673482343e-12;
    const double v22 = v10 * v21 - v20 + (-2.129967838427791e-11);
    const double v23 = v10 * v22 - v21 + 9.218315187605315e-11;
    const double v24 = v10 * v23 - v22 + (-4.1903547593419254e-10);
    const double v25 = v10 * v24 - v23 + 2.0150497551970347e-09;
    const double v26 = v10 * v25 - v24 + (-1.0345762465678097e-08);
    const double v27 = v10 * v26 - v25 + 5.7410841254500495e-08;
    const double v28 = v10 * v27 - v26 + (-3.5019606030878126e-07);
    const double v29 = v10 * v28 - v27 + 2.406484947837217e-06;
    const double v30 = v10 * v29 - v28 + (-1.936197974166083e-05);
    const double v31 = v10 * v30 - v29 + 0.00019521551847135162;
    const double v32 = v10 * v31 - v30 + (-0.002857816859622779);
    const double v33 = v10 * v32 - v31 + 0.10392373657681724;
    const double v34 = v9 * v33 - v32 + 1.3603130952422213;
    const double v35 = sqrt(v6);
    const double v36 = v34 / v35;
    const int is37 = x <= 2.0;
    const double v38 = -v6;
    const double v39 = tg_exp(v38);
    const double v40 = v39 * v36;
    const double v41 = is37 ? v7 : v40;
    const int is42 = x == INFINITY;
    const double v43 = is42 ? 0.0 : v41;
    const int is44 = x > 0.0;
    const int is45 = x == 0.0;
    const double v46 = is45 ? INFINITY : NAN;
    const double v47 = is44 ? v43 : v46;
    return v47;
}
TG_INLINE float tg_special_modified_bessel_k1f(float x) { return (float)tg_special_modified_bessel_k1((double)x); }

TG_INLINE double tg_special_scaled_modified_bessel_k0(double x)
{
    const int is1 = x > 0.0;
    const int is2 = x <= 2.0;
    const int is3 = is1 & is2;
    const double v4 = is3 ? x : 1.0;
    const int is5 = x > 2.0;
    const double v6 = is5 ? x : 2.0;
    const double v7 = tg_special_k0_near(v4);
    const double v8 = 4.0 / v6;
    const double v9 = v8 - 1.0;
    const double v10 = v9 + v9;
    const double v11 = v10 * 5.3004337711773354e-18 - 0.0 + (-1.6475805939842632e-17);
    const double v12 = v10 * v11 - 5.3004337711773354e-18 + 5.2103917776435543e-17;
    const double v13 = v10 * v12 - v11 + (-1.6782311257549006e-16);
    const double v14 = v10 * v13 - v12 + 5.5120559994043335e-16;
    const double v15 = v10 * v14 - v13 + (-1.848593377920907e-15);
    const double v16 = v10 * v15 - v14 + 6.340076476276646e-15;
    const double v17 = v10 * v16 - v15 + (-2.2275133267462965e-14);
    const double v18 = v10 * v17 - v16 + 8.032890775068375e-14;
    const double v19 = v10 * v18 - v17 + (-2.9800969231481784e-13);
    const double v20 = v10 * v19 - v18 + 1.1403405882073441e-12;
    const double v21 = v10 * v20 - v19 + (-4.514597883374519e-12);
    const double v22 = v10 * v21 - v20 + 1.8559491149549264e-11;
    const double v23 = v10 * v22 - v21 + (-7.957489244477396e-11);
    const double v24 = v10 * v23 - v22 + 3.5773972814003283e-10;
    const double v25 = v10 * v24 - v23 + (-1.6975345093890614e-09);
    const double v26 = v10 * v25 - v24 + 8.574034017414225e-09;
    const double v27 = v10 * v26 - v25 + (-4.660489897687948e-08);
    const double v28 = v10 * v27 - v26 + 2.766813639445015e-07;
    const double v29 = v10 * v28 - v27 + (-1.8317555227191195e-06);
    const double v30 = v10 * v29 - v28 + 1.39498137188765e-05;
    const double v31 = v10 * v30 - v29 + (-0.00012849549581627802);
    const double v32 = v10 * v31 - v30 + 0.0015698838857300533;
    const double v33 = v10 * v32 - v31 + (-0.0314481013119645);
    const double v34 = v9 * v33 - v32 + 1.2201515410329777;
    const double v35 = sqrt(v6);
    const double v36 = v34 / v35;
    const int is37 = x <= 2.0;
    const double v38 = tg_exp(v4);
    const double v39 = v7 * v38;
    const double v40 = is37 ? v39 : v36;
    const int is41 = x == INFINITY;
    const double v42 = is41 ? 0.0 : v40;
    const int is43 = x > 0.0;
    const int is44 = x == 0.0;
    const double v45 = is44 ? INFINITY : NAN;
    const double v46 = is43 ? v42 : v45;
    return v46;
}
TG_INLINE float tg_special_scaled_modified_bessel_k0f(float x) { return (float)tg_special_scaled_modified_bessel_k0((double)x); }

TG_INLINE double tg_special_scaled_modified_bessel_k1(double x)
{
    const int is1 = x > 0.0;
    const int is2 = x <= 2.0;
    const int is3 = is1 & is2;
    const double v4 = is3 ? x : 1.0;
    const int is5 = x > 2.0;
    const double v6 = is5 ? x : 2.0;
    const double v7 = tg_special_k1_near(v4);
    const double v8 = 4.0 / v6;
    const double v9 = v8 - 1.0;
    const double v10 = v9 + v9;
    const double v11 = v10 * (-5.7567444820733025e-18) - 0.0 + 1.7940510478863572e-17;
    const double v12 = v10 * v11 - (-5.7567444820733025e-18) + (-5.689462849193648e-17);
    const double v13 = v10 * v12 - v11 + 1.8380935752430455e-16;
    const double v14 = v10 * v13 - v12 + (-6.057047270643018e-16);
    const double v15 = v10 * v14 - v13 + 2.038703166239861e-15;
    const double v16 = v10 * v15 - v14 + (-7.0198370892147685e-15);
    const double v17 = v10 * v16 - v15 + 2.4771544242195988e-14;
    const double v18 = v10 * v17 - v16 + (-8.976705182010146e-14);
    const double v19 = v10 * v18 - v17 + 3.348419666052243e-13;
    const double v20 = v10 * v19 - v18 + (-1.2891739609498229e-12);
    const double v21 = v10 * v20 - v19 + 5.139639673482343e-12;
    const double v22 = v10 * v21 - v20 + (-2.129967838427791e-11);
    const double v23 = v10 * v22 - v21 + 9.218315187605315e-11;
    const double v24 = v10 * v23 - v22 + (-4.1903547593419254e-10);
    const double v25 = v10 * v24 - v23 + 2.0150497551970347e-09;
    const double v26 = v10 * v25 - v24 + (-1.0345762465678097e-08);
    const double v27 = v10 * v26 - v25 + 5.7410841254500495e-08;
    const double v28 = v10 * v27 - v26 + (-3.5019606030878126e-07);
    const double v29 = v10 * v28 - v27 + 2.406484947837217e-06;
    const double v30 = v10 * v29 - v28 + (-1.936197974166083e-05);
    const double v31 = v10 * v30 - v29 + 0.00019521551847135162;
    const double v32 = v10 * v31 - v30 + (-0.002857816859622779);
    const double v33 = v10 * v32 - v31 + 0.10392373657681724;
    const double v34 = v9 * v33 - v32 + 1.3603130952422213;
    const double v35 = sqrt(v6);
    const double v36 = v34 / v35;
    const int is37 = x <= 2.0;
    const double v38 = tg_exp(v4);
    const double v39 = v7 * v38;
    const double v40 = is37 ? v39 : v36;
    const int is41 = x == INFINITY;
    const double v42 = is41 ? 0.0 : v40;
    const int is43 = x > 0.0;
    const int is44 = x == 0.0;
    const double v45 = is44 ? INFINITY : NAN;
    const double v46 = is43 ? v42 : v45;
    return v46;
}
TG_INLINE float tg_special_scaled_modified_bessel_k1f(float x) { return (float)tg_special_scaled_modified_bessel_k1((double)x); }

__attribute__((unused)) static const double tg_special_table_airy_ai_0[32] = {
    3.483989442459416e-18, (-2.9502705833721254e-17), 3.5978991422145034e-17, 9.51965014570017e-16,
    (-6.895080927885035e-15), 4.8741837202287105e-15, 2.0885896604502407e-13, (-1.2805447574198059e-12),
    2.658241327479573e-13, 3.5857642041278925e-11, (-1.8343326708789198e-10), (-5.106245117904234e-11),
    4.660552774163884e-09, (-1.9495992841846798e-08), (-1.4627095866197506e-08), 4.388747958436033e-07,
    (-1.4587201524168717e-06), (-1.7594742389691562e-06), 2.8167833107042442e-05, (-7.125499253060682e-05),
    (-0.00011697538709676606), 0.0011250768750654559, (-0.0020196817905494225), (-0.00413259164974895),
    0.024051904281273857, (-0.026814703186039963), (-0.06418728306305249), 0.20236324198370076,
    (-0.09512014013503055), (-0.250924387032336), 0.18996030881729123, 0.06078525685079726};
__attribute__((unused)) static const double tg_special_table_airy_ai_1[25] = {
    4.2613499074124e-18, (-1.2969972135960937e-17), 4.015126334015871e-17, (-1.265583225645289e-16),
    4.066582046456231e-16, (-1.3338094674756683e-15), 4.472340393300025e-15, (-1.5356466802223836e-14),
    5.4101162570683925e-14, (-1.9599793911089723e-13), 7.320712095125598e-13, (-2.827706782319351e-12),
    1.1336099808224236e-11, (-4.737267332192277e-11), 2.0745855483677591e-10, (-9.583863708112733e-10),
    4.709793440054328e-09, (-2.489319422322096e-08), 1.436225340438052e-07, (-9.237229735403982e-07),
    6.83476697557269e-06, (-6.12595423417825e-05), 0.0007327177465426715, (-0.014792784850104199),
    0.9844053049171552};
__attribute__((unused)) static const double tg_special_table_airy_ai_2[18] = {
    (-5.693084361777701e-18), 1.9139396837024275e-17, (-6.709077463456904e-17), 2.4632810885748683e-16,
    (-9.523976784906871e-16), 3.902945148540805e-15, (-1.7087573211105664e-14), 8.071678110741466e-14,
    (-4.16552889201035e-13), 2.386927411492466e-12, (-1.5518841909929856e-11), 1.1794620737908535e-10,
    (-1.0938736172758127e-09), 1.3216283888528755e-08, (-2.316269813501758e-07), 7.181193774368645e-06,
    (-0.0006216836584374116), 0.9993708890742778};
__attribute__((unused)) static const double tg_special_table_airy_ai_3[22] = {
    (-6.1916686968385e-19), 1.770678751037084e-18, (-5.206129560968553e-18), 1.5773435787722914e-17,
    (-4.937527439863738e-17), 1.6016711026345388e-16, (-5.403040541397448e-16), 1.9032114367193004e-15,
    (-7.0344821126322824e-15), 2.7441377308322106e-14, (-1.137851379225632e-13), 5.059047237872084e-13,
    (-2.43852975710829e-12), 1.2923809452698712e-11, (-7.672290975115024e-11), 5.232285376834493e-10,
    (-4.247731732954726e-09), 4.327537342298499e-08, (-6.014071912908298e-07), 1.3174151014089972e-05,
    (-0.0006089151840832694), 0.06882170556308001};
TG_SPECIAL double tg_special_airy_ai(double x)
{
    const double v1 = fabs(x);
    const int is2 = x > (-4.0);
    const int is3 = x < 2.0;
    const int is4 = is2 & is3;
    const double v5 = is4 ? x : (-1.0);
    const double v6 = v5 + 1.0;
    const double v7 = v6 / 3.0;
    const double v8 = tg_special_sum_chebyshev(tg_special_table_airy_ai_0, 32, v7);
    const int is9 = x > 2.0;
    const double v10 = is9 ? x : 2.0;
    const double v11 = 2.0 * v10;
    const double v12 = sqrt(v10);
    const double v13 = v11 * v12;
    const double v14 = v13 / 3.0;
    const double v15 = -v14;
    const double v16 = tg_exp(v15);
    const double v17 = 3.771236166328254 / v14;
    const double v18 = v17 - 1.0;
    const double v19 = tg_special_sum_chebyshev(tg_special_table_airy_ai_1, 25, v18);
    const double v20 = v16 * v19;
    const double v21 = sqrt(v10);
    const double v22 = 3.141592653589793 * v21;
    const double v23 = sqrt(v22);
    const double v24 = 2.0 * v23;
    const double v25 = v20 / v24;
    const int is26 = x < (-4.0);
    const double v27 = is26 ? v1 : 4.0;
    const double v28 = 2.0 * v27;
    const double v29 = sqrt(v27);
    const double v30 = v28 * v29;
    const double v31 = v30 / 3.0;
    const double v32 = 5.333333333333333 / v31;
    const double v33 = 2.0 * v32;
    const double v34 = v33 * v32;
    const double v35 = v34 - 1.0;
    const double v36 = tg_special_sum_chebyshev(tg_special_table_airy_ai_2, 18, v35);
    const double v37 = tg_special_sum_chebyshev(tg_special_table_airy_ai_3, 22, v35);
    const double v38 = v37 / v31;
    const double v39 = sin(v31);
    const double v40 = cos(v31);
    const double v41 = v40 + v39;
    const double v42 = v36 * v41;
    const double v43 = v39 - v40;
    const double v44 = v38 * v43;
    const double v45 = v42 + v44;
    const double v46 = sqrt(v27);
    const double v47 = 6.283185307179586 * v46;
    const double v48 = sqrt(v47);
    const double v49 = v45 / v48;
    const int is50 = x >= 2.0;
    const int is51 = x <= (-4.0);
    const double v52 = is51 ? v49 : v8;
    const double v53 = is50 ? v25 : v52;
    const int is54 = v1 == INFINITY;
    const int is55 = x != x;
    const double v56 = is55 ? x : v53;
    const double v57 = is54 ? NAN : v56;
    return v57;
}
TG_INLINE float tg_special_airy_aif(float x) { return (float)tg_special_airy_ai((double)x); }

TG_INLINE double tg_special_exp_of_square(double x, double sign)
{
    const double v1 = x * 16.0;
    const double v2 = trunc(v1);
    const double v3 = v2 / 16.0;
    const double v4 = v3 * v3;
    const double v5 = sign * v4;
    const double v6 = tg_exp(v5);
    const double v7 = x - v3;
    const double v8 = x + v3;
    const double v9 = v7 * v8;
    const double v10 = sign * v9;
    const double v11 = tg_exp(v10);
    const double v12 = v6 * v11;
    return v12;
}
TG_INLINE float tg_special_exp_of_squaref(float x, float sign) { return (float)tg_special_exp_of_square((double)x, (double)sign); }

TG_INLINE double tg_special_erfcx_positive(double x)
{
    const int is1 = x == INFINITY;
    const double v2 = x - 3.75;
    const double v3 = x + 3.75;
    const double v4 = v2 / v3;
    const double v5 = is1 ? 1.0 : v4;
    const double v6 = v5 + v5;
    const double v7 = v6 * 5.068148904796111e-17 - 0.0 + 7.418235256624044e-17;
    const double v8 = v6 * v7 - 5.068148904796111e-17 + (-1.2507950530688648e-15);
    const double v9 = v6 * v8 - v7 + (-1.864562880419313e-15);
    const double v10 = v6 * v9 - v8 + 3.3478119482868056e-14;
    const double v11 = v6 * v10 - v9 + 3.25254814814874e-14;
    const double v12 = v6 * v11 - v10 + (-9.65469674843344e-13);
    const double v13 = v6 * v12 - v11 + 1.9455868545777347e-13;
    const double v14 = v6 * v13 - v12 + 2.86879501093067e-11;
    const double v15 = v6 * v14 - v13 + (-6.318088340886684e-11);
    const double v16 = v6 * v15 - v14 + (-7.754400208831351e-10);
    const double v17 = v6 * v16 - v15 + 4.521959811218287e-09;
    const double v18 = v6 * v17 - v16 + 1.076499946567091e-08;
    const double v19 = v6 * v18 - v17 + (-2.1886401049234397e-07);
    const double v20 = v6 * v19 - v18 + 7.74038306619849e-07;
    const double v21 = v6 * v20 - v19 + 4.13902798607301e-06;
    const double v22 = v6 * v21 - v20 + (-6.916973302501207e-05);
    const double v23 = v6 * v22 - v21 + 0.0004907758365258086;
    const double v24 = v6 * v23 - v22 + (-0.002413163540417608);
    const double v25 = v6 * v24 - v23 + 0.009074997670705265;
    const double v26 = v6 * v25 - v24 + (-0.026658668435305753);
    const double v27 = v6 * v26 - v25 + 0.05920993999819189;
    const double v28 = v6 * v27 - v26 + (-0.08424913336651792);
    const double v29 = v6 * v28 - v27 + (-0.004590054580646478);
    const double v30 = v5 * v29 - v28 + 1.1775789345674017;
    const double v31 = 2.0 * x;
    const double v32 = 1.0 + v31;
    const double v33 = v30 / v32;
    return v33;
}
TG_INLINE float tg_special_erfcx_positivef(float x) { return (float)tg_special_erfcx_positive((double)x); }

TG_INLINE double tg_special_erfcx(double x)
{
    const double v1 = fabs(x);
    const double v2 = tg_special_erfcx_positive(v1);
    const int is3 = x < 0.0;
    const int is4 = v1 < 30.0;
    const double v5 = is4 ? v1 : 30.0;
    const double v6 = tg_special_exp_of_square(v5, 1.0);
    const double v7 = 2.0 * v6;
    const double v8 = v7 - v2;
    const double v9 = is3 ? v8 : v2;
    return v9;
}
TG_INLINE float tg_special_erfcxf(float x) { return (float)tg_special_erfcx((double)x); }

TG_INLINE double tg_special_erfc(double x)
{
    const double v1 = fabs(x);
    const int is2 = v1 < 0.5;
    const double v3 = is2 ? x : 0.0;
    const double v4 = 2.0 * v3;
    const double v5 = v4 * v3;
    const double v6 = v5 - 1.0;
    const double v7 = v6 * (-5.166061616805981e-16) + 1.454817075960679e-14;
    const double v8 = v7 * v6 + (-3.7910930392717217e-13);
    const double v9 = v8 * v6 + 9.167606746069445e-12;
    const double v10 = v9 * v6 + (-2.0352493920247854e-10);
    const double v11 = v10 * v6 + 4.11580059766496e-09;
    const double v12 = v11 * v6 + (-7.511569160678138e-08);
    const double v13 = v12 * v6 + 1.223382738352401e-06;
    const double v14 = v13 * v6 + (-1.75371694414921e-05);
    const double v15 = v14 * v6 + 0.00021751715604160108;
    const double v16 = v15 * v6 + (-0.0022854855611440673);
    const double v17 = v16 * v6 + 0.019852496688983708;
    const double v18 = v17 * v6 + (-0.1405360890227171);
    const double v19 = v18 * v6 + 0.9654687386698673;
    const double v20 = v3 * v19;
    const double v21 = 1.0 - v20;
    const int is22 = v1 < 30.0;
    const double v23 = is22 ? v1 : 30.0;
    const double v24 = tg_special_exp_of_square(v23, (-1.0));
    const double v25 = tg_special_erfcx_positive(v23);
    const double v26 = v24 * v25;
    const double v27 = is2 ? 1.0 : v26;
    const int is28 = x != x;
    const int is29 = x < 0.0;
    const double v30 = 2.0 - v27;
    const double v31 = is29 ? v30 : v27;
    const double v32 = is2 ? v21 : v31;
    const double v33 = is28 ? x : v32;
    return v33;
}
TG_INLINE float tg_special_erfcf(float x) { return (float)tg_special_erfc((double)x); }

TG_INLINE double tg_special_ndtr(double x)
{
    const double v1 = x * (-0.7071067811865476);
    const double v2 = tg_special_erfc(v1);
    const double v3 = 0.5 * v2;
    return v3;
}
TG_INLINE float tg_special_ndtrf(float x) { return (float)tg_special_ndtr((double)x); }

TG_INLINE double tg_special_log_ndtr(double x)
{
    const double v1 = x * 0.7071067811865476;
    const int is2 = x < (-1.0);
    const double v3 = is2 ? v1 : (-1.0);
    const double v4 = -v3;
    const double v5 = tg_special_erfcx_positive(v4);
    const double v6 = 0.5 * v5;
    const double v7 = tg_log(v6);
    const double v8 = v3 * v3;
    const double v9 = v7 - v8;
    const int is10 = x < (-1.0);
    const double v11 = tg_special_erfc(v1);
    const double v12 = (-0.5) * v11;
    const double v13 = tg_log1p(v12);
    const double v14 = is10 ? v9 : v13;
    return v14;
}
TG_INLINE float tg_special_log_ndtrf(float x) { return (float)tg_special_log_ndtr((double)x); }

TG_INLINE double tg_special_quantile_of_tail(double p)
{
    const double v1 = tg_log(p);
    const double v2 = -v1;
    const double v3 = sqrt(v2);
    const double v4 = v3 - 1.6;
    const double v5 = v4 * 0.0007745450142783414 + 0.022723844989269184;
    const double v6 = v5 * v4 + 0.2417807251774506;
    const double v7 = v6 * v4 + 1.2704582524523684;
    const double v8 = v7 * v4 + 3.6478483247632045;
    const double v9 = v8 * v4 + 5.769497221460691;
    const double v10 = v9 * v4 + 4.630337846156546;
    const double v11 = v10 * v4 + 1.4234371107496835;
    const double v12 = v3 - 1.6;
    const double v13 = v12 * 1.0507500716444169e-09 + 0.0005475938084995345;
    const double v14 = v13 * v12 + 0.015198666563616457;
    const double v15 = v14 * v12 + 0.14810397642748008;
    const double v16 = v15 * v12 + 0.6897673349851;
    const double v17 = v16 * v12 + 1.6763848301838038;
    const double v18 = v17 * v12 + 2.053191626637759;
    const double v19 = v18 * v12 + 1.0;
    const double v20 = v11 / v19;
    const double v21 = v3 - 5.0;
    const double v22 = v21 * 2.0103343992922881e-07 + 2.7115555687434876e-05;
    const double v23 = v22 * v21 + 0.0012426609473880784;
    const double v24 = v23 * v21 + 0.026532189526576124;
    const double v25 = v24 * v21 + 0.29656057182850487;
    const double v26 = v25 * v21 + 1.7848265399172913;
    const double v27 = v26 * v21 + 5.463784911164114;
    const double v28 = v27 * v21 + 6.657904643501103;
    const double v29 = v3 - 5.0;
    const double v30 = v29 * 2.0442631033899397e-15 + 1.421511758316446e-07;
    const double v31 = v30 * v29 + 1.8463183175100548e-05;
    const double v32 = v31 * v29 + 0.0007868691311456133;
    const double v33 = v32 * v29 + 0.014875361290850615;
    const double v34 = v33 * v29 + 0.1369298809227358;
    const double v35 = v34 * v29 + 0.599832206555888;
    const double v36 = v35 * v29 + 1.0;
    const double v37 = v28 / v36;
    const int is38 = v3 <= 5.0;
    const double v39 = is38 ? v20 : v37;
    return v39;
}
TG_INLINE float tg_special_quantile_of_tailf(float p) { return (float)tg_special_quantile_of_tail((double)p); }

TG_INLINE double tg_special_quantile_of_middle(double q)
{
    const double v1 = q * q;
    const double v2 = 0.180625 - v1;
    const double v3 = v2 * 2509.0809287301227 + 33430.57558358813;
    const double v4 = v3 * v2 + 67265.7709270087;
    const double v5 = v4 * v2 + 45921.95393154987;
    const double v6 = v5 * v2 + 13731.69376550946;
    const double v7 = v6 * v2 + 1971.5909503065513;
    const double v8 = v7 * v2 + 133.14166789178438;
    const double v9 = v8 * v2 + 3.3871328727963665;
    const double v10 = q * v9;
    const double v11 = v2 * 5226.495278852854 + 28729.085735721943;
    const double v12 = v11 * v2 + 39307.89580009271;
    const double v13 = v12 * v2 + 21213.794301586597;
    const double v14 = v13 * v2 + 5394.196021424751;
    const double v15 = v14 * v2 + 687.1870074920579;
    const double v16 = v15 * v2 + 42.31333070160091;
    const double v17 = v16 * v2 + 1.0;
    const double v18 = v10 / v17;
    return v18;
}
TG_INLINE float tg_special_quantile_of_middlef(float q) { return (float)tg_special_quantile_of_middle((double)q); }

TG_INLINE double tg_special_ndtri(double p)
{
    const double v1 = p - 0.5;
    const double v2 = fabs(v1);
    const int is3 = v2 <= 0.425;
    const double v4 = is3 ? v1 : 0.0;
    const double v5 = tg_special_quantile_of_middle(v4);
    const int is6 = v1 < 0.0;
    const double v7 = 1.0 - p;
    const double v8 = is6 ? p : v7;
    const int is9 = v8 > 0.0;
    const double v10 = is9 ? v8 : 0.01;
    const double v11 = tg_special_quantile_of_tail(v10);
    const int is12 = v1 < 0.0;
    const double v13 = -v11;
    const double v14 = is12 ? v13 : v11;
    const double v15 = is3 ? v5 : v14;
    const int is16 = p == 0.0;
    const int is17 = p == 1.0;
    const double v18 = is17 ? INFINITY : NAN;
    const double v19 = is16 ? (-INFINITY) : v18;
    const int is20 = p > 0.0;
    const int is21 = p < 1.0;
    const int is22 = is20 & is21;
    const double v23 = is22 ? v15 : v19;
    return v23;
}
TG_INLINE float tg_special_ndtrif(float p) { return (float)tg_special_ndtri((double)p); }

TG_INLINE double tg_special_erfinv(double x)
{
    const double v1 = fabs(x);
    const int is2 = v1 <= 0.85;
    const double v3 = 0.5 * x;
    const double v4 = is2 ? v3 : 0.0;
    const double v5 = tg_special_quantile_of_middle(v4);
    const double v6 = 1.0 - v1;
    const double v7 = 0.5 * v6;
    const int is8 = v7 > 0.0;
    const double v9 = is8 ? v7 : 0.01;
    const double v10 = tg_special_quantile_of_tail(v9);
    const double v11 = copysign(v10, x);
    const double v12 = is2 ? v5 : v11;
    const double v13 = v12 * 0.7071067811865476;
    const int is14 = v1 < 1.0;
    const int is15 = v1 == 1.0;
    const double v16 = x * INFINITY;
    const double v17 = is15 ? v16 : NAN;
    const double v18 = is14 ? v13 : v17;
    return v18;
}
TG_INLINE float tg_special_erfinvf(float x) { return (float)tg_special_erfinv((double)x); }

TG_INLINE double tg_special_sine_to_quarter(double x)
{
    const double v1 = 3.141592653589793 * x;
    const double v2 = v1 * v1;
    const double v3 = v2 * 6.446950284384474e-26 + (-3.868170170630684e-23);
    const double v4 = v3 * v2 + 1.9572941063391263e-20;
    const double v5 = v4 * v2 + (-8.22063524662433e-18);
    const double v6 = v5 * v2 + 2.8114572543455206e-15;
    const double v7 = v6 * v2 + (-7.647163731819816e-13);
    const double v8 = v7 * v2 + 1.6059043836821613e-10;
    const double v9 = v8 * v2 + (-2.505210838544172e-08);
    const double v10 = v9 * v2 + 2.7557319223985893e-06;
    const double v11 = v10 * v2 + (-0.0001984126984126984);
    const double v12 = v11 * v2 + 0.008333333333333333;
    const double v13 = v12 * v2 + (-0.16666666666666666);
    const double v14 = v13 * v2 + 1.0;
    const double v15 = v1 * v14;
    return v15;
}
TG_INLINE float tg_special_sine_to_quarterf(float x) { return (float)tg_special_sine_to_quarter((double)x); }

TG_INLINE double tg_special_sin_pi(double x)
{
    const double v1 = rint(x);
    const double v2 = x - v1;
    const double v3 = tg_special_sine_to_quarter(v2);
    const double v4 = v1 * 0.5;
    const double v5 = floor(v4);
    const double v6 = 2.0 * v5;
    const double v7 = v1 - v6;
    const int is8 = v7 == 0.0;
    const double v9 = -v3;
    const double v10 = is8 ? v3 : v9;
    return v10;
}
TG_INLINE float tg_special_sin_pif(float x) { return (float)tg_special_sin_pi((double)x); }

TG_INLINE double tg_special_tan_pi(double x)
{
    const double v1 = rint(x);
    const double v2 = x - v1;
    const double v3 = tg_special_sine_to_quarter(v2);
    const double v4 = fabs(v2);
    const double v5 = 0.5 - v4;
    const double v6 = tg_special_sine_to_quarter(v5);
    const double v7 = v3 / v6;
    return v7;
}
TG_INLINE float tg_special_tan_pif(float x) { return (float)tg_special_tan_pi((double)x); }

TG_INLINE double tg_special_stirling(double x)
{
    const double v1 = x * x;
    const double v2 = 1.0 / v1;
    const double v3 = v2 * (-1.3924322169059011) + 0.17964437236883057;
    const double v4 = v3 * v2 + (-0.029550653594771242);
    const double v5 = v4 * v2 + 0.00641025641025641;
    const double v6 = v5 * v2 + (-0.0019175269175269176);
    const double v7 = v6 * v2 + 0.0008417508417508417;
    const double v8 = v7 * v2 + (-0.0005952380952380953);
    const double v9 = v8 * v2 + 0.0007936507936507937;
    const double v10 = v9 * v2 + (-0.002777777777777778);
    const double v11 = v10 * v2 + 0.08333333333333333;
    const double v12 = v11 / x;
    return v12;
}
TG_INLINE float tg_special_stirlingf(float x) { return (float)tg_special_stirling((double)x); }

TG_INLINE double tg_special_lgamma1p(double x)
{
    const double v1 = 2.0 * x;
    const double v2 = v1 * (-5.117684453811745e-13) + 2.1270762170785405e-12;
    const double v3 = v2 * v1 + (-6.566215046625873e-12);
    const double v4 = v3 * v1 + 2.8075860826633894e-11;
    const double v5 = v4 * v1 + (-1.2481294697143873e-10);
    const double v6 = v5 * v1 + 5.352455971471404e-10;
    const double v7 = v6 * v1 + (-2.3043102744274226e-09);
    const double v8 = v7 * v1 + 1.001249236957858e-08;
    const double v9 = v8 * v1 + (-4.387339030049162e-08);
    const double v10 = v9 * v1 + 1.9425327031438992e-07;
    const double v11 = v10 * v1 + (-8.716982449081134e-07);
    const double v12 = v11 * v1 + 3.981793088659667e-06;
    const double v13 = v12 * v1 + (-1.8636779875052926e-05);
    const double v14 = v13 * v1 + 9.032844784489912e-05;
    const double v15 = v14 * v1 + (-0.000461596939291756);
    const double v16 = v15 * v1 + 0.002572601053472542;
    const double v17 = v16 * v1 + (-0.016838075263299536);
    const double v18 = v17 * v1 + 0.16123351671205663;
    const double v19 = v18 * v1 + 0.42278433509846713;
    const double v20 = x * v19;
    const double v21 = tg_log1p(x);
    const double v22 = v20 - v21;
    return v22;
}
TG_INLINE float tg_special_lgamma1pf(float x) { return (float)tg_special_lgamma1p((double)x); }

TG_INLINE double tg_special_lgamma(double x)
{
    const double v1 = fabs(x);
    const int is2 = v1 < 1.5;
    const int is3 = v1 < 8.0;
    const double v4 = is3 ? v1 : 2.0;
    const double v5 = is2 ? 2.0 : v4;
    const int is6 = v5 >= 2.5;
    const double v7 = v5 - 1.0;
    const double v8 = is6 ? v7 : v5;
    const double v9 = 1.0 * v8;
    const double v10 = is6 ? v9 : 1.0;
    const int is11 = v8 >= 2.5;
    const double v12 = v8 - 1.0;
    const double v13 = is11 ? v12 : v8;
    const double v14 = v10 * v13;
    const double v15 = is11 ? v14 : v10;
    const int is16 = v13 >= 2.5;
    const double v17 = v13 - 1.0;
    const double v18 = is16 ? v17 : v13;
    const double v19 = v15 * v18;
    const double v20 = is16 ? v19 : v15;
    const int is21 = v18 >= 2.5;
    const double v22 = v18 - 1.0;
    const double v23 = is21 ? v22 : v18;
    const double v24 = v20 * v23;
    const double v25 = is21 ? v24 : v20;
    const int is26 = v23 >= 2.5;
    const double v27 = v23 - 1.0;
    const double v28 = is26 ? v27 : v23;
    const double v29 = v25 * v28;
    const double v30 = is26 ? v29 : v25;
    const int is31 = v28 >= 2.5;
    const double v32 = v28 - 1.0;
    const double v33 = is31 ? v32 : v28;
    const double v34 = v30 * v33;
    const double v35 = is31 ? v34 : v30;
    const double v36 = v33 - 2.0;
    const double v37 = v33 - 2.0;
    const double v38 = 2.0 * v37;
    const double v39 = v38 * (-5.117684453811745e-13) + 2.1270762170785405e-12;
    const double v40 = v39 * v38 + (-6.566215046625873e-12);
    const double v41 = v40 * v38 + 2.8075860826633894e-11;
    const double v42 = v41 * v38 + (-1.2481294697143873e-10);
    const double v43 = v42 * v38 + 5.352455971471404e-10;
    const double v44 = v43 * v38 + (-2.3043102744274226e-09);
    const double v45 = v44 * v38 + 1.001249236957858e-08;
    const double v46 = v45 * v38 + (-4.387339030049162e-08);
    const double v47 = v46 * v38 + 1.9425327031438992e-07;
    const double v48 = v47 * v38 + (-8.716982449081134e-07);
    const double v49 = v48 * v38 + 3.981793088659667e-06;
    const double v50 = v49 * v38 + (-1.8636779875052926e-05);
    const double v51 = v50 * v38 + 9.032844784489912e-05;
    const double v52 = v51 * v38 + (-0.000461596939291756);
    const double v53 = v52 * v38 + 0.002572601053472542;
    const double v54 = v53 * v38 + (-0.016838075263299536);
    const double v55 = v54 * v38 + 0.16123351671205663;
    const double v56 = v55 * v38 + 0.42278433509846713;
    const double v57 = v36 * v56;
    const double v58 = tg_log(v35);
    const double v59 = v57 + v58;
    const int is60 = v1 < 0.5;
    const int is61 = v1 < 1.5;
    const double v62 = v1 - 1.0;
    const double v63 = is61 ? v62 : 0.0;
    const double v64 = is60 ? x : v63;
    const double v65 = tg_special_lgamma1p(v64);
    const double v66 = tg_log(v1);
    const double v67 = v65 - v66;
    const double v68 = is60 ? v67 : v65;
    const int is69 = v1 < 8.0;
    const double v70 = is69 ? 8.0 : v1;
    const double v71 = v70 - 0.5;
    const double v72 = tg_log(v70);
    const double v73 = v71 * v72;
    const double v74 = v73 - v70;
    const double v75 = tg_special_stirling(v70);
    const double v76 = 0.9189385332046727 + v75;
    const double v77 = v74 + v76;
    const int is78 = v1 < 1.5;
    const int is79 = v1 < 8.0;
    const double v80 = is79 ? v59 : v77;
    const double v81 = is78 ? v68 : v80;
    const double v82 = floor(x);
    const int is83 = v82 == x;
    const double v84 = is83 ? 0.5 : x;
    const double v85 = tg_special_sin_pi(v84);
    const double v86 = x * v85;
    const double v87 = fabs(v86);
    const double v88 = tg_log(v87);
    const double v89 = 1.1447298858494002 - v88;
    const double v90 = v89 - v81;
    const double v91 = is83 ? INFINITY : v90;
    const int is92 = v1 == INFINITY;
    const int is93 = x <= (-0.5);
    const double v94 = is93 ? v91 : v81;
    const double v95 = is92 ? INFINITY : v94;
    return v95;
}
TG_INLINE float tg_special_lgammaf(float x) { return (float)tg_special_lgamma((double)x); }

TG_INLINE double tg_special_digamma(double x)
{
    const int is1 = x < 0.0;
    const double v2 = 1.0 - x;
    const double v3 = is1 ? v2 : x;
    const int is4 = v3 < 10.0;
    const double v5 = 1.0 / v3;
    const double v6 = 0.0 - v5;
    const double v7 = is4 ? v6 : 0.0;
    const double v8 = v3 + 1.0;
    const double v9 = is4 ? v8 : v3;
    const int is10 = v9 < 10.0;
    const double v11 = 1.0 / v9;
    const double v12 = v7 - v11;
    const double v13 = is10 ? v12 : v7;
    const double v14 = v9 + 1.0;
    const double v15 = is10 ? v14 : v9;
    const int is16 = v15 < 10.0;
    const double v17 = 1.0 / v15;
    const double v18 = v13 - v17;
    const double v19 = is16 ? v18 : v13;
    const double v20 = v15 + 1.0;
    const double v21 = is16 ? v20 : v15;
    const int is22 = v21 < 10.0;
    const double v23 = 1.0 / v21;
    const double v24 = v19 - v23;
    const double v25 = is22 ? v24 : v19;
    const double v26 = v21 + 1.0;
    const double v27 = is22 ? v26 : v21;
    const int is28 = v27 < 10.0;
    const double v29 = 1.0 / v27;
    const double v30 = v25 - v29;
    const double v31 = is28 ? v30 : v25;
    const double v32 = v27 + 1.0;
    const double v33 = is28 ? v32 : v27;
    const int is34 = v33 < 10.0;
    const double v35 = 1.0 / v33;
    const double v36 = v31 - v35;
    const double v37 = is34 ? v36 : v31;
    const double v38 = v33 + 1.0;
    const double v39 = is34 ? v38 : v33;
    const int is40 = v39 < 10.0;
    const double v41 = 1.0 / v39;
    const double v42 = v37 - v41;
    const double v43 = is40 ? v42 : v37;
    const double v44 = v39 + 1.0;
    const double v45 = is40 ? v44 : v39;
    const int is46 = v45 < 10.0;
    const double v47 = 1.0 / v45;
    const double v48 = v43 - v47;
    const double v49 = is46 ? v48 : v43;
    const double v50 = v45 + 1.0;
    const double v51 = is46 ? v50 : v45;
    const int is52 = v51 < 10.0;
    const double v53 = 1.0 / v51;
    const double v54 = v49 - v53;
    const double v55 = is52 ? v54 : v49;
    const double v56 = v51 + 1.0;
    const double v57 = is52 ? v56 : v51;
    const int is58 = v57 < 10.0;
    const double v59 = 1.0 / v57;
    const double v60 = v55 - v59;
    const double v61 = is58 ? v60 : v55;
    const double v62 = v57 + 1.0;
    const double v63 = is58 ? v62 : v57;
    const double v64 = v63 * v63;
    const double v65 = 1.0 / v64;
    const double v66 = v65 * (-26.456212121212122) + 3.0539543302701198;
    const double v67 = v66 * v65 + (-0.4432598039215686);
    const double v68 = v67 * v65 + 0.08333333333333333;
    const double v69 = v68 * v65 + (-0.021092796092796094);
    const double v70 = v69 * v65 + 0.007575757575757576;
    const double v71 = v70 * v65 + (-0.004166666666666667);
    const double v72 = v71 * v65 + 0.003968253968253968;
    const double v73 = v72 * v65 + (-0.008333333333333333);
    const double v74 = v73 * v65 + 0.08333333333333333;
    const double v75 = v65 * v74;
    const int is76 = v63 == INFINITY;
    const double v77 = tg_log(v63);
    const double v78 = v61 + v77;
    const double v79 = 0.5 / v63;
    const double v80 = v78 - v79;
    const double v81 = v80 - v75;
    const double v82 = is76 ? v63 : v81;
    const int is83 = x == 0.0;
    const double v84 = -x;
    const double v85 = copysign(INFINITY, v84);
    const double v86 = is83 ? v85 : NAN;
    const double v87 = tg_special_tan_pi(x);
    const double v88 = 3.141592653589793 / v87;
    const double v89 = v82 - v88;
    const double v90 = floor(x);
    const int is91 = v90 == x;
    const int is92 = x <= 0.0;
    const int is93 = is91 & is92;
    const int is94 = x < 0.0;
    const double v95 = is94 ? v89 : v82;
    const double v96 = is93 ? v86 : v95;
    return v96;
}
TG_INLINE float tg_special_digammaf(float x) { return (float)tg_special_digamma((double)x); }

TG_INLINE double tg_special_trigamma(double x)
{
    const int is1 = x < 0.5;
    const double v2 = 1.0 - x;
    const double v3 = is1 ? v2 : x;
    const int is4 = v3 < 10.0;
    const double v5 = v3 * v3;
    const double v6 = 1.0 / v5;
    const double v7 = 0.0 + v6;
    const double v8 = is4 ? v7 : 0.0;
    const double v9 = v3 + 1.0;
    const double v10 = is4 ? v9 : v3;
    const int is11 = v10 < 10.0;
    const double v12 = v10 * v10;
    const double v13 = 1.0 / v12;
    const double v14 = v8 + v13;
    const double v15 = is11 ? v14 : v8;
    const double v16 = v10 + 1.0;
    const double v17 = is11 ? v16 : v10;
    const int is18 = v17 < 10.0;
    const double v19 = v17 * v17;
    const double v20 = 1.0 / v19;
    const double v21 = v15 + v20;
    const double v22 = is18 ? v21 : v15;
    const double v23 = v17 + 1.0;
    const double v24 = is18 ? v23 : v17;
    const int is25 = v24 < 10.0;
    const double v26 = v24 * v24;
    const double v27 = 1.0 / v26;
    const double v28 = v22 + v27;
    const double v29 = is25 ? v28 : v22;
    const double v30 = v24 + 1.0;
    const double v31 = is25 ? v30 : v24;
    const int is32 = v31 < 10.0;
    const double v33 = v31 * v31;
    const double v34 = 1.0 / v33;
    const double v35 = v29 + v34;
    const double v36 = is32 ? v35 : v29;
    const double v37 = v31 + 1.0;
    const double v38 = is32 ? v37 : v31;
    const int is39 = v38 < 10.0;
    const double v40 = v38 * v38;
    const double v41 = 1.0 / v40;
    const double v42 = v36 + v41;
    const double v43 = is39 ? v42 : v36;
    const double v44 = v38 + 1.0;
    const double v45 = is39 ? v44 : v38;
    const int is46 = v45 < 10.0;
    const double v47 = v45 * v45;
    const double v48 = 1.0 / v47;
    const double v49 = v43 + v48;
    const double v50 = is46 ? v49 : v43;
    const double v51 = v45 + 1.0;
    const double v52 = is46 ? v51 : v45;
    const int is53 = v52 < 10.0;
    const double v54 = v52 * v52;
    const double v55 = 1.0 / v54;
    const double v56 = v50 + v55;
    const double v57 = is53 ? v56 : v50;
    const double v58 = v52 + 1.0;
    const double v59 = is53 ? v58 : v52;
    const int is60 = v59 < 10.0;
    const double v61 = v59 * v59;
    const double v62 = 1.0 / v61;
    const double v63 = v57 + v62;
    const double v64 = is60 ? v63 : v57;
    const double v65 = v59 + 1.0;
    const double v66 = is60 ? v65 : v59;
    const int is67 = v66 < 10.0;
    const double v68 = v66 * v66;
    const double v69 = 1.0 / v68;
    const double v70 = v64 + v69;
    const double v71 = is67 ? v70 : v64;
    const double v72 = v66 + 1.0;
    const double v73 = is67 ? v72 : v66;
    const double v74 = v73 * v73;
    const double v75 = 1.0 / v74;
    const double v76 = v75 * (-86580.25311355312) + 6192.123188405797;
    const double v77 = v76 * v75 + (-529.1242424242424);
    const double v78 = v77 * v75 + 54.971177944862156;
    const double v79 = v78 * v75 + (-7.092156862745098);
    const double v80 = v79 * v75 + 1.1666666666666667;
    const double v81 = v80 * v75 + (-0.2531135531135531);
    const double v82 = v81 * v75 + 0.07575757575757576;
    const double v83 = v82 * v75 + (-0.03333333333333333);
    const double v84 = v83 * v75 + 0.023809523809523808;
    const double v85 = v84 * v75 + (-0.03333333333333333);
    const double v86 = v85 * v75 + 0.16666666666666666;
    const double v87 = v75 * v86;
    const double v88 = v87 / v73;
    const double v89 = 1.0 / v73;
    const double v90 = 0.5 * v75;
    const double v91 = v89 + v90;
    const double v92 = v91 + v88;
    const double v93 = v71 + v92;
    const double v94 = tg_special_sin_pi(x);
    const int is95 = x < 0.5;
    const double v96 = v94 * v94;
    const double v97 = 9.869604401089358 / v96;
    const double v98 = v97 - v93;
    const double v99 = is95 ? v98 : v93;
    return v99;
}
TG_INLINE float tg_special_trigammaf(float x) { return (float)tg_special_trigamma((double)x); }

TG_SPECIAL double tg_special_zeta(double s, double q)
{
    const int is1 = s > 1.0;
    const int is2 = q > 0.0;
    const double v3 = floor(q);
    const int is4 = v3 != q;
    const double v5 = floor(s);
    const int is6 = v5 == s;
    const int is7 = is4 & is6;
    const int is8 = is2 | is7;
    const int is9 = is1 & is8;
    const double v10 = is9 ? q : 1000000000.0;
    double s11_0 = 0.0;
    double s11_1 = v10;
    for (int k11 = 0; k11 < 16384; ++k11)
    {
        const double v12 = -s;
        const double v13 = pow(s11_1, v12);
        const double v14 = s11_0 + v13;
        const int is15 = (double)k11 < 9.0;
        const int is16 = s11_1 < 9.0;
        const int is17 = is15 | is16;
        const double v18 = fabs(v13);
        const double v19 = fabs(v14);
        const double v20 = 1e-17 * v19;
        const int is21 = v18 > v20;
        const int is22 = is17 & is21;
        const double v23 = s11_1 + 1.0;
        s11_0 = v14;
        s11_1 = v23;
        if (!is22)
            break;
    }
    const double v24 = -s;
    const double v25 = pow(s11_1, v24);
    const double v26 = s11_1 * v25;
    const double v27 = s - 1.0;
    const double v28 = v26 / v27;
    const double v29 = 0.5 * v25;
    const double v30 = v28 + v29;
    const double v31 = s * v25;
    const double v32 = v31 / s11_1;
    const double v33 = 0.08333333333333333 * v32;
    const double v34 = v30 + v33;
    const double v35 = s + 1.0;
    const double v36 = s + 2.0;
    const double v37 = v35 * v36;
    const double v38 = v32 * v37;
    const double v39 = s11_1 * s11_1;
    const double v40 = v38 / v39;
    const double v41 = (-0.001388888888888889) * v40;
    const double v42 = v34 + v41;
    const double v43 = s + 3.0;
    const double v44 = s + 4.0;
    const double v45 = v43 * v44;
    const double v46 = v40 * v45;
    const double v47 = s11_1 * s11_1;
    const double v48 = v46 / v47;
    const double v49 = 3.306878306878307e-05 * v48;
    const double v50 = v42 + v49;
    const double v51 = s + 5.0;
    const double v52 = s + 6.0;
    const double v53 = v51 * v52;
    const double v54 = v48 * v53;
    const double v55 = s11_1 * s11_1;
    const double v56 = v54 / v55;
    const double v57 = (-8.267195767195768e-07) * v56;
    const double v58 = v50 + v57;
    const double v59 = s + 7.0;
    const double v60 = s + 8.0;
    const double v61 = v59 * v60;
    const double v62 = v56 * v61;
    const double v63 = s11_1 * s11_1;
    const double v64 = v62 / v63;
    const double v65 = 2.08767569878681e-08 * v64;
    const double v66 = v58 + v65;
    const double v67 = s + 9.0;
    const double v68 = s + 10.0;
    const double v69 = v67 * v68;
    const double v70 = v64 * v69;
    const double v71 = s11_1 * s11_1;
    const double v72 = v70 / v71;
    const double v73 = (-5.284190138687493e-10) * v72;
    const double v74 = v66 + v73;
    const double v75 = s + 11.0;
    const double v76 = s + 12.0;
    const double v77 = v75 * v76;
    const double v78 = v72 * v77;
    const double v79 = s11_1 * s11_1;
    const double v80 = v78 / v79;
    const double v81 = 1.3382536530684679e-11 * v80;
    const double v82 = v74 + v81;
    const double v83 = s + 13.0;
    const double v84 = s + 14.0;
    const double v85 = v83 * v84;
    const double v86 = v80 * v85;
    const double v87 = s11_1 * s11_1;
    const double v88 = v86 / v87;
    const double v89 = (-3.3896802963225827e-13) * v88;
    const double v90 = v82 + v89;
    const double v91 = s + 15.0;
    const double v92 = s + 16.0;
    const double v93 = v91 * v92;
    const double v94 = v88 * v93;
    const double v95 = s11_1 * s11_1;
    const double v96 = v94 / v95;
    const double v97 = 8.586062056277845e-15 * v96;
    const double v98 = v90 + v97;
    const double v99 = s + 17.0;
    const double v100 = s + 18.0;
    const double v101 = v99 * v100;
    const double v102 = v96 * v101;
    const double v103 = s11_1 * s11_1;
    const double v104 = v102 / v103;
    const double v105 = (-2.174868698558062e-16) * v104;
    const double v106 = v98 + v105;
    const double v107 = s + 19.0;
    const double v108 = s + 20.0;
    const double v109 = v107 * v108;
    const double v110 = v104 * v109;
    const double v111 = s11_1 * s11_1;
    const double v112 = v110 / v111;
    const double v113 = 5.5090028283602295e-18 * v112;
    const double v114 = v106 + v113;
    const double v115 = s + 21.0;
    const double v116 = s + 22.0;
    const double v117 = v115 * v116;
    const double v118 = v112 * v117;
    const double v119 = s11_1 * s11_1;
    const double v120 = v118 / v119;
    const double v121 = (-1.3954464685812522e-19) * v120;
    const double v122 = v114 + v121;
    const double v123 = s + 23.0;
    const double v124 = s + 24.0;
    const double v125 = v123 * v124;
    const double v126 = v120 * v125;
    const double v127 = s11_1 * s11_1;
    const double v128 = v126 / v127;
    const double v129 = 3.534707039629467e-21 * v128;
    const double v130 = v122 + v129;
    const int is137 = v25 == 0.0;
    const int is138 = s11_0 == INFINITY;
    const int is139 = is137 | is138;
    const double v140 = s11_0 + v130;
    const double v141 = is139 ? s11_0 : v140;
    const int is142 = q <= 0.0;
    const double v143 = floor(q);
    const int is144 = v143 == q;
    const int is145 = is142 & is144;
    const int is146 = s == 1.0;
    const int is147 = s < 1.0;
    const int is148 = !is147;
    const int is149 = is148 & is145;
    const int is150 = is146 | is149;
    const double v151 = is9 ? v141 : NAN;
    const double v152 = is150 ? INFINITY : v151;
    return v152;
}
TG_INLINE float tg_special_zetaf(float s, float q) { return (float)tg_special_zeta((double)s, (double)q); }

TG_INLINE double tg_special_log1p_rest(double u)
{
    const double v1 = fabs(u);
    const int is2 = v1 < 0.4;
    const double v3 = is2 ? u : 0.0;
    const double v4 = u * u;
    const double v5 = 2.5 * v3;
    const double v6 = v5 * 3.0303727630963847e-11 + (-7.551767023853959e-11);
    const double v7 = v6 * v5 + 6.674455318199553e-12;
    const double v8 = v7 * v5 + (-3.71006024537938e-11);
    const double v9 = v8 * v5 + 6.213398817500826e-10;
    const double v10 = v9 * v5 + (-1.5754575086174318e-09);
    const double v11 = v10 * v5 + 3.297699824268637e-09;
    const double v12 = v11 * v5 + (-8.75668516800379e-09);
    const double v13 = v12 * v5 + 2.3965294843745213e-08;
    const double v14 = v13 * v5 + (-6.336206995421231e-08);
    const double v15 = v14 * v5 + 1.6771862604901217e-07;
    const double v16 = v15 * v5 + (-4.4729764448279143e-07);
    const double v17 = v16 * v5 + 1.198391244347943e-06;
    const double v18 = v17 * v5 + (-3.226417585018502e-06);
    const double v19 = v18 * v5 + 8.738128988420414e-06;
    const double v20 = v19 * v5 + (-2.3831266593100364e-05);
    const double v21 = v20 * v5 + 6.553600064686347e-05;
    const double v22 = v21 * v5 + (-0.00018204444522038304);
    const double v23 = v22 * v5 + 0.0005119999999428228;
    const double v24 = v23 * v5 + (-0.001462857142802293);
    const double v25 = v24 * v5 + 0.004266666666669289;
    const double v26 = v25 * v5 + (-0.012800000000001798);
    const double v27 = v26 * v5 + 0.03999999999999996;
    const double v28 = v27 * v5 + (-0.13333333333333333);
    const double v29 = v28 * v5 + 0.5;
    const double v30 = v4 * v29;
    const double v31 = tg_log1p(u);
    const double v32 = u - v31;
    const double v33 = is2 ? v30 : v32;
    return v33;
}
TG_INLINE float tg_special_log1p_restf(float u) { return (float)tg_special_log1p_rest((double)u); }

TG_SPECIAL double tg_special_gamma_density(double a, double x)
{
    const int is1 = a < 8.0;
    const double v2 = is1 ? 8.0 : a;
    const double v3 = x - v2;
    const double v4 = v3 / v2;
    const double v5 = fabs(v4);
    const int is6 = v5 < 0.4;
    const double v7 = tg_special_log1p_rest(v4);
    const double v8 = x / v2;
    const double v9 = tg_log(v8);
    const double v10 = v4 - v9;
    const double v11 = is6 ? v7 : v10;
    const double v12 = -v2;
    const double v13 = v12 * v11;
    const double v14 = tg_special_stirling(v2);
    const double v15 = v13 - v14;
    const double v16 = tg_log(x);
    const double v17 = a * v16;
    const double v18 = v17 - x;
    const double v19 = a + 1.0;
    const double v20 = tg_special_lgamma(v19);
    const double v21 = v18 - v20;
    const double v22 = tg_exp(v21);
    const int is23 = a < 8.0;
    const double v24 = tg_exp(v15);
    const double v25 = 6.283185307179586 * v2;
    const double v26 = sqrt(v25);
    const double v27 = v24 / v26;
    const double v28 = is23 ? v22 : v27;
    return v28;
}
TG_INLINE float tg_special_gamma_densityf(float a, float x) { return (float)tg_special_gamma_density((double)a, (double)x); }

TG_SPECIAL double tg_special_gamma_series(double a, double x)
{
    double s1_0 = 1.0;
    double s1_1 = 1.0;
    for (int k1 = 0; k1 < 16384; ++k1)
    {
        const double v2 = s1_1 * x;
        const double v3 = (double)k1 + 1.0;
        const double v4 = a + v3;
        const double v5 = v2 / v4;
        const double v6 = 1e-17 * s1_0;
        const int is7 = v5 > v6;
        const double v8 = s1_0 + v5;
        s1_0 = v8;
        s1_1 = v5;
        if (!is7)
            break;
    }
    const double v9 = tg_special_gamma_density(a, x);
    const double v10 = v9 * s1_0;
    return v10;
}
TG_INLINE float tg_special_gamma_seriesf(float a, float x) { return (float)tg_special_gamma_series((double)a, (double)x); }

TG_SPECIAL double tg_special_gamma_fraction(double a, double x)
{
    const double v1 = x + 1.0;
    const double v2 = v1 - a;
    const double v3 = 1.0 / v2;
    const double v4 = 1.0 / v2;
    double s5_0 = v2;
    double s5_1 = 1e+300;
    double s5_2 = v3;
    double s5_3 = v4;
    for (int k5 = 0; k5 < 16384; ++k5)
    {
        const double v6 = (double)k5 + 1.0;
        const double v7 = a - v6;
        const double v8 = v6 * v7;
        const double v9 = s5_0 + 2.0;
        const double v10 = v8 * s5_2;
        const double v11 = v10 + v9;
        const double v12 = 1.0 / v11;
        const double v13 = v8 / s5_1;
        const double v14 = v9 + v13;
        const double v15 = v14 * v12;
        const double v16 = v15 - 1.0;
        const double v17 = fabs(v16);
        const int is18 = v17 > 2.3e-16;
        const double v19 = v14 * v12;
        const double v20 = s5_3 * v19;
        s5_0 = v9;
        s5_1 = v14;
        s5_2 = v12;
        s5_3 = v20;
        if (!is18)
            break;
    }
    const double v21 = tg_special_gamma_density(a, x);
    const double v22 = v21 * a;
    const double v23 = v22 * s5_3;
    return v23;
}
TG_INLINE float tg_special_gamma_fractionf(float a, float x) { return (float)tg_special_gamma_fraction((double)a, (double)x); }

TG_SPECIAL double tg_special_gamma_small(double a, double x)
{
    double s1_0 = 0.0;
    double s1_1 = 1.0;
    for (int k1 = 0; k1 < 16384; ++k1)
    {
        const double v2 = -s1_1;
        const double v3 = v2 * x;
        const double v4 = (double)k1 + 1.0;
        const double v5 = v3 / v4;
        const double v6 = (double)k1 + 1.0;
        const double v7 = a + v6;
        const double v8 = v5 / v7;
        const double v9 = fabs(v8);
        const double v10 = fabs(s1_0);
        const double v11 = 1e-17 * v10;
        const int is12 = v9 > v11;
        const double v13 = s1_0 + v8;
        s1_0 = v13;
        s1_1 = v5;
        if (!is12)
            break;
    }
    const int is14 = a <= 0.5;
    const int is15 = a <= 0.5;
    const double v16 = is15 ? a : 0.5;
    const double v17 = tg_special_lgamma1p(v16);
    const double v18 = a + 1.0;
    const double v19 = tg_special_lgamma(v18);
    const double v20 = is14 ? v17 : v19;
    const double v21 = tg_log(x);
    const double v22 = a * v21;
    const double v23 = v22 - v20;
    const double v24 = expm1(v23);
    const double v25 = -v24;
    const double v26 = tg_exp(v23);
    const double v27 = a * v26;
    const double v28 = v27 * s1_0;
    const double v29 = v25 - v28;
    return v29;
}
TG_INLINE float tg_special_gamma_smallf(float a, float x) { return (float)tg_special_gamma_small((double)a, (double)x); }

__attribute__((unused)) static const double tg_special_table_gamma_uniform_0[10] = {
    4.93875893393627e-10, 5.7876949497350525e-06, (-1.8263488805711332e-05), 2.7744451511563645e-05,
    (-1.2741009095484485e-07), (-0.00010976582244684731), 0.0002812695154763237, (-0.00033493161081142234),
    5.171790908260592e-05, 0.00034436760689237765};
__attribute__((unused)) static const double tg_special_table_gamma_uniform_1[12] = {
    2.338630673826657e-13, 5.788792863149004e-07, (-2.0291327396058603e-06), 3.465155368803609e-06,
    (-3.0796134506033047e-09), (-1.8329116582843375e-05), 5.61168275310625e-05, (-8.153969367561969e-05),
    7.902353232660328e-07, 0.0002708782096718045, (-0.0005921664373536939), 0.0005313079364639922};
__attribute__((unused)) static const double tg_special_table_gamma_uniform_2[14] = {
    (-1.7989466721743514e-14), 4.8240967037894184e-08, (-1.8447187191171344e-07), 3.4652846491085265e-07,
    (-3.252473551298454e-10), (-2.291481176508095e-06), 8.018470256334202e-06, (-1.3594048189768693e-05),
    1.419062920643967e-07, 6.797780477937208e-05, (-0.00019932570516188847), 0.0002772753244959392,
    (-6.972813758365857e-05), (-0.00033679855336635813)};
__attribute__((unused)) static const double tg_special_table_gamma_uniform_3[16] = {
    (-2.3024517174528067e-13), 3.4463580499464896e-09, (-1.4189739437803219e-08), 2.8865829742708783e-08,
    2.956794137544049e-11, (-2.292934834000805e-07), 8.907507532205309e-07, (-1.6954149536558305e-06),
    2.507497226237533e-10, 1.1375726970678419e-05, (-3.968365047179435e-05), 6.641498215465122e-05,
    (-1.4638452578843418e-06), (-0.0002990724803031902), 0.0007840392217200666, (-0.0008618882909167117)};
__attribute__((unused)) static const double tg_special_table_gamma_uniform_4[18] = {
    (-1.388823336813903e-14), 2.1541049775774907e-10, (-9.460496661855133e-10), 2.0620131815488797e-09,
    2.3928620439808118e-12, (-1.9111168485973655e-08), 8.099464905388083e-08, (-1.6958404091930278e-07),
    (-2.7861080291528143e-11), 1.4230900732435883e-06, (-5.6749528269915965e-06), 1.1082654115347302e-05,
    (-2.396505113867297e-07), (-7.561801671883977e-05), 0.00026772063206283885, (-0.0004691894943952557),
    0.00022947209362139917, 0.0006494341563786008};
__attribute__((unused)) static const double tg_special_table_gamma_uniform_5[20] = {
    (-4.1689782251838634e-15), 1.197593554636698e-11, (-5.5645956134363323e-11), 1.2872252400089318e-10,
    9.428356159014678e-13, (-1.3670488396617114e-09), 6.228974084922022e-09, (-1.409252991086752e-08),
    (-2.0477098421990866e-10), 1.4280614206064242e-07, (-6.298992138380055e-07), 1.3721957309062934e-06,
    3.423578734096138e-08, (-1.2760635188618728e-05), 5.2923448829120125e-05, (-0.0001073665322636516),
    2.0093878600823047e-06, 0.0007716049382716049, (-0.0026813271604938273), 0.004133597883597883};
__attribute__((unused)) static const double tg_special_table_gamma_uniform_6[22] = {
    (-2.1671786527323313e-16), 5.996696365683689e-13, (-2.933186643771437e-12), 7.1624989648114856e-12,
    6.067215101604758e-14, (-8.56390702649298e-11), 4.162792991842583e-10, (-1.0091543710600413e-09),
    (-1.7543241719747647e-11), 1.1951628599778148e-08, (-5.752545603517705e-08), 1.378633446915721e-07,
    4.647127802807434e-09, (-1.6120900894563446e-06), 7.64916091608111e-06, (-1.8098550334489977e-05),
    (-4.018775720164609e-07), 0.00020576131687242798, (-0.0009902263374485596), 0.0026455026455026454,
    (-0.003472222222222222), (-0.001851851851851852)};
__attribute__((unused)) static const double tg_special_table_gamma_uniform_7[24] = {
    (-5.139111834242572e-16), 2.8534893807047445e-14, (-1.392388722418162e-13), 3.371763262400985e-13,
    1.1004392031956135e-13, (-5.0276692801141755e-12), 2.4361948020667415e-11, (-5.830772132550426e-11),
    (-2.5514193994946248e-11), 9.14769958223679e-10, (-4.382036018453353e-09), 1.0261809784240309e-08,
    6.707853543401498e-09, (-1.7665952736826078e-07), 8.296711340953087e-07, (-1.85406221071516e-06),
    (-2.185448510679992e-06), 3.919263178522438e-05, (-0.0001787551440329218), 0.0003527336860670194,
    0.0011574074074074073, (-0.014814814814814815), 0.08333333333333333, (-0.3333333333333333)};
TG_SPECIAL double tg_special_gamma_uniform(double a, double x, double side)
{
    const double v1 = x - a;
    const double v2 = v1 / a;
    const double v3 = tg_special_log1p_rest(v2);
    const double v4 = 2.0 * v3;
    const double v5 = sqrt(v4);
    const double v6 = copysign(v5, v2);
    const double v7 = tg_special_sum_powers(tg_special_table_gamma_uniform_0, 10, v6);
    const double v8 = v7 / a;
    const double v9 = tg_special_sum_powers(tg_special_table_gamma_uniform_1, 12, v6);
    const double v10 = v8 + v9;
    const double v11 = v10 / a;
    const double v12 = tg_special_sum_powers(tg_special_table_gamma_uniform_2, 14, v6);
    const double v13 = v11 + v12;
    const double v14 = v13 / a;
    const double v15 = tg_special_sum_powers(tg_special_table_gamma_uniform_3, 16, v6);
    const double v16 = v14 + v15;
    const double v17 = v16 / a;
    const double v18 = tg_special_sum_powers(tg_special_table_gamma_uniform_4, 18, v6);
    const double v19 = v17 + v18;
    const double v20 = v19 / a;
    const double v21 = tg_special_sum_powers(tg_special_table_gamma_uniform_5, 20, v6);
    const double v22 = v20 + v21;
    const double v23 = v22 / a;
    const double v24 = tg_special_sum_powers(tg_special_table_gamma_uniform_6, 22, v6);
    const double v25 = v23 + v24;
    const double v26 = v25 / a;
    const double v27 = tg_special_sum_powers(tg_special_table_gamma_uniform_7, 24, v6);
    const double v28 = v26 + v27;
    const double v29 = (-0.5) * a;
    const double v30 = v29 * v6;
    const double v31 = v30 * v6;
    const double v32 = tg_exp(v31);
    const double v33 = v28 * v32;
    const double v34 = 6.283185307179586 * a;
    const double v35 = sqrt(v34);
    const double v36 = v33 / v35;
    const double v37 = side * v6;
    const double v38 = 0.5 * a;
    const double v39 = sqrt(v38);
    const double v40 = v37 * v39;
    const double v41 = tg_special_erfc(v40);
    const double v42 = 0.5 * v41;
    const double v43 = side * v36;
    const double v44 = v42 + v43;
    return v44;
}
TG_INLINE float tg_special_gamma_uniformf(float a, float x, float side) { return (float)tg_special_gamma_uniform((double)a, (double)x, (double)side); }

TG_SPECIAL double tg_special_gamma_share(double a, double x, double side)
{
    const int is1 = a > 200.0;
    const double v2 = x - a;
    const double v3 = fabs(v2);
    const double v4 = 0.3 * a;
    const int is5 = v3 < v4;
    const int is6 = is1 & is5;
    const double v7 = is6 ? a : 300.0;
    const double v8 = is6 ? x : 300.0;
    const double v9 = tg_special_gamma_uniform(v7, v8, side);
    const int is10 = x <= 0.5;
    const int is11 = x <= 0.5;
    const double v12 = is11 ? x : 0.5;
    const double v13 = tg_log(v12);
    const double v14 = (-0.4) / v13;
    const double v15 = x * 1.1;
    const double v16 = is10 ? v14 : v15;
    const int is17 = x <= 1.1;
    const int is18 = a <= v16;
    const int is19 = is17 & is18;
    const double v20 = is19 ? a : 0.25;
    const double v21 = is19 ? x : 0.25;
    const double v22 = tg_special_gamma_small(v20, v21);
    const int is23 = !is6;
    const int is24 = x > 1.1;
    const int is25 = is23 & is24;
    const int is26 = x > a;
    const int is27 = is25 & is26;
    const double v28 = is27 ? a : 1.0;
    const double v29 = is27 ? x : 30.0;
    const double v30 = tg_special_gamma_fraction(v28, v29);
    const int is31 = !is6;
    const int is32 = !is19;
    const int is33 = is31 & is32;
    const int is34 = !is27;
    const int is35 = is33 & is34;
    const double v36 = is35 ? a : 1.0;
    const double v37 = is35 ? x : 0.001;
    const double v38 = tg_special_gamma_series(v36, v37);
    const double v39 = is27 ? v30 : v22;
    const int is40 = side > 0.0;
    const double v41 = 1.0 - v38;
    const double v42 = is40 ? v41 : v38;
    const int is43 = side > 0.0;
    const double v44 = 1.0 - v39;
    const double v45 = is43 ? v39 : v44;
    const double v46 = is35 ? v42 : v45;
    const double v47 = is6 ? v9 : v46;
    return v47;
}
TG_INLINE float tg_special_gamma_sharef(float a, float x, float side) { return (float)tg_special_gamma_share((double)a, (double)x, (double)side); }

TG_SPECIAL double tg_special_igamma(double a, double x)
{
    const int is1 = a > 0.0;
    const int is2 = x > 0.0;
    const int is3 = is1 & is2;
    const int is4 = a < INFINITY;
    const int is5 = is3 & is4;
    const int is6 = x < INFINITY;
    const int is7 = is5 & is6;
    const double v8 = is7 ? a : 1.0;
    const double v9 = is7 ? x : 1.0;
    const double v10 = tg_special_gamma_share(v8, v9, (-1.0));
    const int is11 = a == INFINITY;
    const int is12 = x == INFINITY;
    const double v13 = is12 ? NAN : 0.0;
    const int is14 = x == INFINITY;
    const double v15 = is14 ? 1.0 : NAN;
    const double v16 = is11 ? v13 : v15;
    const int is17 = a == 0.0;
    const int is18 = x > 0.0;
    const double v19 = is18 ? 1.0 : NAN;
    const int is20 = x == 0.0;
    const double v21 = is20 ? 0.0 : v16;
    const double v22 = is17 ? v19 : v21;
    const int is23 = a < 0.0;
    const int is24 = x < 0.0;
    const int is25 = is23 | is24;
    const double v26 = is25 ? NAN : v22;
    const double v27 = is7 ? v10 : v26;
    return v27;
}
TG_INLINE float tg_special_igammaf(float a, float x) { return (float)tg_special_igamma((double)a, (double)x); }

TG_SPECIAL double tg_special_igammac(double a, double x)
{
    const int is1 = a > 0.0;
    const int is2 = x > 0.0;
    const int is3 = is1 & is2;
    const int is4 = a < INFINITY;
    const int is5 = is3 & is4;
    const int is6 = x < INFINITY;
    const int is7 = is5 & is6;
    const double v8 = is7 ? a : 1.0;
    const double v9 = is7 ? x : 1.0;
    const double v10 = tg_special_gamma_share(v8, v9, 1.0);
    const int is11 = a == INFINITY;
    const int is12 = x == INFINITY;
    const double v13 = is12 ? NAN : 1.0;
    const int is14 = x == INFINITY;
    const double v15 = is14 ? 0.0 : NAN;
    const double v16 = is11 ? v13 : v15;
    const int is17 = a == 0.0;
    const int is18 = x > 0.0;
    const double v19 = is18 ? 0.0 : NAN;
    const int is20 = x == 0.0;
    const double v21 = is20 ? 1.0 : v16;
    const double v22 = is17 ? v19 : v21;
    const int is23 = a < 0.0;
    const int is24 = x < 0.0;
    const int is25 = is23 | is24;
    const double v26 = is25 ? NAN : v22;
    const double v27 = is7 ? v10 : v26;
    return v27;
}
TG_INLINE float tg_special_igammacf(float a, float x) { return (float)tg_special_igammac((double)a, (double)x); }

TG_INLINE double tg_special_entr(double x)
{
    const int is1 = x == 0.0;
    const int is2 = x < 0.0;
    const double v3 = is2 ? (-INFINITY) : x;
    const double v4 = is1 ? 0.0 : v3;
    const int is5 = x > 0.0;
    const double v6 = -x;
    const int is7 = x > 0.0;
    const double v8 = is7 ? x : 1.0;
    const double v9 = tg_log(v8);
    const double v10 = v6 * v9;
    const double v11 = is5 ? v10 : v4;
    return v11;
}
TG_INLINE float tg_special_entrf(float x) { return (float)tg_special_entr((double)x); }

TG_INLINE double tg_special_xlog1py(double x, double y)
{
    const int is1 = x == 0.0;
    const int is2 = y == y;
    const int is3 = is1 & is2;
    const double v4 = tg_log1p(y);
    const double v5 = x * v4;
    const double v6 = is3 ? 0.0 : v5;
    return v6;
}
TG_INLINE float tg_special_xlog1pyf(float x, float y) { return (float)tg_special_xlog1py((double)x, (double)y); }

TG_INLINE double tg_special_logit(double x)
{
    const double v1 = 1.0 - x;
    const double v2 = x / v1;
    const double v3 = tg_log(v2);
    return v3;
}
TG_INLINE float tg_special_logitf(float x) { return (float)tg_special_logit((double)x); }

TG_INLINE double tg_special_logaddexp2(double x, double y)
{
    const int is1 = x > y;
    const int is2 = x != x;
    const int is3 = is1 | is2;
    const double v4 = is3 ? x : y;
    const double v5 = x - y;
    const double v6 = fabs(v5);
    const double v7 = (-0.6931471805599453) * v6;
    const double v8 = tg_exp(v7);
    const double v9 = tg_log1p(v8);
    const double v10 = v9 / 0.6931471805599453;
    const double v11 = v4 + v10;
    const int is12 = x == y;
    const double v13 = x + 1.0;
    const double v14 = is12 ? v13 : v11;
    return v14;
}
TG_INLINE float tg_special_logaddexp2f(float x, float y) { return (float)tg_special_logaddexp2((double)x, (double)y); }

TG_SPECIAL double tg_special_sinc(double x)
{
    const int is1 = x == 0.0;
    const double v2 = is1 ? 1.0 : x;
    const double v3 = 3.141592653589793 * v2;
    const int is4 = x == 0.0;
    const double v5 = sin(v3);
    const double v6 = v5 / v3;
    const double v7 = is4 ? 1.0 : v6;
    return v7;
}
TG_INLINE float tg_special_sincf(float x) { return (float)tg_special_sinc((double)x); }

TG_SPECIAL double tg_special_gamma_path_by_series(double a, double x)
{
    const double v1 = x / a;
    const double v2 = tg_special_digamma(a);
    const double v3 = 1.0 / a;
    const double v4 = v2 + v3;
    const double v5 = tg_log(x);
    const double v6 = v5 - v4;
    const double v7 = v1 * v6;
    double s8_0 = v7;
    double s8_1 = v1;
    double s8_2 = v4;
    for (int k8 = 0; k8 < 16384; ++k8)
    {
        const double v9 = (double)k8 + 1.0;
        const double v10 = a + v9;
        const double v11 = s8_1 * x;
        const double v12 = v11 / v10;
        const double v13 = 1.0 / v10;
        const double v14 = s8_2 + v13;
        const double v15 = v5 - v14;
        const double v16 = v12 * v15;
        const double v17 = fabs(v16);
        const double v18 = v17 + v12;
        const double v19 = fabs(s8_0);
        const double v20 = 1e-17 * v19;
        const int is21 = v18 > v20;
        const double v22 = s8_0 + v16;
        s8_0 = v22;
        s8_1 = v12;
        s8_2 = v14;
        if (!is21)
            break;
    }
    const double v23 = -s8_0;
    return v23;
}
TG_INLINE float tg_special_gamma_path_by_seriesf(float a, float x) { return (float)tg_special_gamma_path_by_series((double)a, (double)x); }

TG_SPECIAL double tg_special_gamma_path_by_fraction(double a, double x)
{
    const double v1 = x + 1.0;
    const double v2 = v1 - a;
    const double v3 = 1.0 / v2;
    const double v4 = v3 * v3;
    const double v5 = v3 * v3;
    double s6_0 = v2;
    double s6_1 = 1e+300;
    double s6_2 = v3;
    double s6_3 = v3;
    double s6_4 = 0.0;
    double s6_5 = v4;
    double s6_6 = v5;
    for (int k6 = 0; k6 < 16384; ++k6)
    {
        const double v7 = (double)k6 + 1.0;
        const double v8 = a - v7;
        const double v9 = v7 * v8;
        const double v10 = s6_0 + 2.0;
        const double v11 = v7 * s6_2;
        const double v12 = v9 * s6_5;
        const double v13 = v11 + v12;
        const double v14 = v13 - 1.0;
        const double v15 = v9 * s6_2;
        const double v16 = v15 + v10;
        const double v17 = 1.0 / v16;
        const double v18 = -v14;
        const double v19 = v18 * v17;
        const double v20 = v19 * v17;
        const double v21 = v7 / s6_1;
        const double v22 = v9 * s6_4;
        const double v23 = v22 / s6_1;
        const double v24 = v23 / s6_1;
        const double v25 = v21 - v24;
        const double v26 = v25 - 1.0;
        const double v27 = v9 / s6_1;
        const double v28 = v10 + v27;
        const double v29 = v28 * v17;
        const double v30 = v26 * v17;
        const double v31 = v28 * v20;
        const double v32 = v30 + v31;
        const double v33 = s6_6 * v29;
        const double v34 = s6_3 * v32;
        const double v35 = v33 + v34;
        const double v36 = s6_3 * v29;
        const double v37 = v29 - 1.0;
        const double v38 = fabs(v37);
        const int is39 = v38 > 5e-16;
        const double v40 = fabs(v32);
        const int is41 = v40 > 1e-15;
        const int is42 = is39 | is41;
        s6_0 = v10;
        s6_1 = v28;
        s6_2 = v17;
        s6_3 = v36;
        s6_4 = v26;
        s6_5 = v20;
        s6_6 = v35;
        if (!is42)
            break;
    }
    const double v43 = tg_log(x);
    const double v44 = tg_special_digamma(a);
    const double v45 = v43 - v44;
    const double v46 = s6_3 * v45;
    const double v47 = v46 + s6_6;
    const double v48 = x * v47;
    return v48;
}
TG_INLINE float tg_special_gamma_path_by_fractionf(float a, float x) { return (float)tg_special_gamma_path_by_fraction((double)a, (double)x); }

TG_SPECIAL double tg_special_standard_gamma_grad(double a, double x)
{
    const double v1 = a + 1.0;
    const int is2 = x <= v1;
    const double v3 = is2 ? a : 1.0;
    const double v4 = is2 ? x : 1.0;
    const double v5 = tg_special_gamma_path_by_series(v3, v4);
    const double v6 = is2 ? 1.0 : a;
    const double v7 = is2 ? 5.0 : x;
    const double v8 = tg_special_gamma_path_by_fraction(v6, v7);
    const double v9 = is2 ? v5 : v8;
    return v9;
}
TG_INLINE float tg_special_standard_gamma_gradf(float a, float x) { return (float)tg_special_standard_gamma_grad((double)a, (double)x); }

TG_SPECIAL double tg_special_beta_path_by_series(double a, double b, double x, double first)
{
    const int is1 = first > 0.0;
    const double v2 = tg_log(x);
    const double v3 = tg_special_digamma(a);
    const double v4 = v2 - v3;
    const double v5 = 1.0 / a;
    const double v6 = v4 - v5;
    const double v7 = -x;
    const double v8 = tg_log1p(v7);
    const double v9 = tg_special_digamma(b);
    const double v10 = v8 - v9;
    const double v11 = is1 ? v6 : v10;
    const double v12 = a + b;
    const double v13 = tg_special_digamma(v12);
    const double v14 = v11 + v13;
    const double v15 = 1.0 - x;
    const double v16 = x * v15;
    const double v17 = v16 / a;
    const double v18 = v17 * v14;
    double s19_0 = v18;
    double s19_1 = v17;
    double s19_2 = v14;
    for (int k19 = 0; k19 < 16384; ++k19)
    {
        const double v20 = a + b;
        const double v21 = v20 + (double)k19;
        const double v22 = (double)k19 + 1.0;
        const double v23 = a + v22;
        const double v24 = s19_1 * x;
        const double v25 = v24 * v21;
        const double v26 = v25 / v23;
        const double v27 = 1.0 / v21;
        const double v28 = s19_2 + v27;
        const double v29 = first / v23;
        const double v30 = v28 - v29;
        const double v31 = v26 * v30;
        const double v32 = fabs(v31);
        const double v33 = v32 + v26;
        const double v34 = fabs(s19_0);
        const double v35 = 1e-17 * v34;
        const int is36 = v33 > v35;
        const double v37 = v26 * v30;
        const double v38 = s19_0 + v37;
        s19_0 = v38;
        s19_1 = v26;
        s19_2 = v30;
        if (!is36)
            break;
    }
    return s19_0;
}
TG_INLINE float tg_special_beta_path_by_seriesf(float a, float b, float x, float first) { return (float)tg_special_beta_path_by_series((double)a, (double)b, (double)x, (double)first); }

TG_SPECIAL double tg_special_dirichlet_grad(double x, double a, double total)
{
    const double v1 = total - a;
    const double v2 = a + v1;
    const double v3 = x * v2;
    const int is4 = v3 <= a;
    const double v5 = is4 ? a : 1.0;
    const double v6 = is4 ? v1 : 1.0;
    const double v7 = is4 ? x : 0.1;
    const double v8 = tg_special_beta_path_by_series(v5, v6, v7, 1.0);
    const double v9 = -v8;
    const double v10 = is4 ? 1.0 : v1;
    const double v11 = is4 ? 1.0 : a;
    const double v12 = 1.0 - x;
    const double v13 = is4 ? 0.1 : v12;
    const double v14 = tg_special_beta_path_by_series(v10, v11, v13, 0.0);
    const double v15 = is4 ? v9 : v14;
    const double v16 = 1.0 - x;
    const double v17 = v15 / v16;
    return v17;
}
TG_INLINE float tg_special_dirichlet_gradf(float x, float a, float total) { return (float)tg_special_dirichlet_grad((double)x, (double)a, (double)total); }

TG_SPECIAL double tg_special_chebyshev_polynomial_t(double x, double n)
{
    const double v1 = trunc(n);
    const int is2 = v1 >= 2.0;
    const int is3 = v1 <= 16384.0;
    const int is4 = is2 & is3;
    const double v5 = is4 ? v1 : 0.0;
    double s6_0 = 1.0;
    double s6_1 = x;
    for (int k6 = 0; k6 < 16384; ++k6)
    {
        const double v7 = (double)k6 + 2.0;
        const int is8 = v7 < v5;
        const double v10 = x + x;
        const double v11 = v10 * s6_1;
        const double v12 = v11 - s6_0;
        const double v13 = s6_1;
        s6_0 = v13;
        s6_1 = v12;
        if (!is8)
            break;
    }
    const int is14 = v1 == 1.0;
    const int is15 = v1 == 0.0;
    const int is16 = v1 > 16384.0;
    const double v17 = is16 ? NAN : 0.0;
    const double v18 = is15 ? 1.0 : v17;
    const double v19 = is14 ? x : v18;
    const double v20 = is4 ? s6_1 : v19;
    return v20;
}
TG_INLINE float tg_special_chebyshev_polynomial_tf(float x, float n) { return (float)tg_special_chebyshev_polynomial_t((double)x, (double)n); }

TG_SPECIAL double tg_special_shifted_chebyshev_polynomial_t(double x, double n)
{
    const double v1 = trunc(n);
    const double v2 = x + x;
    const double v3 = v2 - 1.0;
    const int is4 = v1 >= 2.0;
    const int is5 = v1 <= 16384.0;
    const int is6 = is4 & is5;
    const double v7 = is6 ? v1 : 0.0;
    double s8_0 = 1.0;
    double s8_1 = v3;
    for (int k8 = 0; k8 < 16384; ++k8)
    {
        const double v9 = (double)k8 + 2.0;
        const int is10 = v9 < v7;
        const double v12 = x + x;
        const double v13 = v12 - 1.0;
        const double v14 = v13 + v13;
        const double v15 = v14 * s8_1;
        const double v16 = v15 - s8_0;
        const double v17 = s8_1;
        s8_0 = v17;
        s8_1 = v16;
        if (!is10)
            break;
    }
    const int is18 = v1 == 1.0;
    const int is19 = v1 == 0.0;
    const int is20 = v1 > 16384.0;
    const double v21 = is20 ? NAN : 0.0;
    const double v22 = is19 ? 1.0 : v21;
    const double v23 = is18 ? v3 : v22;
    const double v24 = is6 ? s8_1 : v23;
    return v24;
}
TG_INLINE float tg_special_shifted_chebyshev_polynomial_tf(float x, float n) { return (float)tg_special_shifted_chebyshev_polynomial_t((double)x, (double)n); }

TG_SPECIAL double tg_special_chebyshev_polynomial_u(double x, double n)
{
    const double v1 = trunc(n);
    const double v2 = x + x;
    const int is3 = v1 >= 2.0;
    const int is4 = v1 <= 16384.0;
    const int is5 = is3 & is4;
    const double v6 = is5 ? v1 : 0.0;
    double s7_0 = 1.0;
    double s7_1 = v2;
    for (int k7 = 0; k7 < 16384; ++k7)
    {
        const double v8 = (double)k7 + 2.0;
        const int is9 = v8 < v6;
        const double v11 = x + x;
        const double v12 = v11 * s7_1;
        const double v13 = v12 - s7_0;
        const double v14 = s7_1;
        s7_0 = v14;
        s7_1 = v13;
        if (!is9)
            break;
    }
    const int is15 = v1 == 1.0;
    const int is16 = v1 == 0.0;
    const int is17 = v1 > 16384.0;
    const double v18 = is17 ? NAN : 0.0;
    const double v19 = is16 ? 1.0 : v18;
    const double v20 = is15 ? v2 : v19;
    const double v21 = is5 ? s7_1 : v20;
    return v21;
}
TG_INLINE float tg_special_chebyshev_polynomial_uf(float x, float n) { return (float)tg_special_chebyshev_polynomial_u((double)x, (double)n); }

TG_SPECIAL double tg_special_shifted_chebyshev_polynomial_u(double x, double n)
{
    const double v1 = trunc(n);
    const double v2 = x + x;
    const double v3 = v2 - 1.0;
    const double v4 = v3 + v3;
    const int is5 = v1 >= 2.0;
    const int is6 = v1 <= 16384.0;
    const int is7 = is5 & is6;
    const double v8 = is7 ? v1 : 0.0;
    double s9_0 = 1.0;
    double s9_1 = v4;
    for (int k9 = 0; k9 < 16384; ++k9)
    {
        const double v10 = (double)k9 + 2.0;
        const int is11 = v10 < v8;
        const double v13 = x + x;
        const double v14 = v13 - 1.0;
        const double v15 = v14 + v14;
        const double v16 = v15 * s9_1;
        const double v17 = v16 - s9_0;
        const double v18 = s9_1;
        s9_0 = v18;
        s9_1 = v17;
        if (!is11)
            break;
    }
    const int is19 = v1 == 1.0;
    const int is20 = v1 == 0.0;
    const int is21 = v1 > 16384.0;
    const double v22 = is21 ? NAN : 0.0;
    const double v23 = is20 ? 1.0 : v22;
    const double v24 = is19 ? v4 : v23;
    const double v25 = is7 ? s9_1 : v24;
    return v25;
}
TG_INLINE float tg_special_shifted_chebyshev_polynomial_uf(float x, float n) { return (float)tg_special_shifted_chebyshev_polynomial_u((double)x, (double)n); }

TG_SPECIAL double tg_special_chebyshev_polynomial_v(double x, double n)
{
    const double v1 = trunc(n);
    const double v2 = x + x;
    const double v3 = v2 - 1.0;
    const int is4 = v1 >= 2.0;
    const int is5 = v1 <= 16384.0;
    const int is6 = is4 & is5;
    const double v7 = is6 ? v1 : 0.0;
    double s8_0 = 1.0;
    double s8_1 = v3;
    for (int k8 = 0; k8 < 16384; ++k8)
    {
        const double v9 = (double)k8 + 2.0;
        const int is10 = v9 < v7;
        const double v12 = x + x;
        const double v13 = v12 * s8_1;
        const double v14 = v13 - s8_0;
        const double v15 = s8_1;
        s8_0 = v15;
        s8_1 = v14;
        if (!is10)
            break;
    }
    const int is16 = v1 == 1.0;
    const int is17 = v1 == 0.0;
    const int is18 = v1 > 16384.0;
    const double v19 = is18 ? NAN : 0.0;
    const double v20 = is17 ? 1.0 : v19;
    const double v21 = is16 ? v3 : v20;
    const double v22 = is6 ? s8_1 : v21;
    return v22;
}
TG_INLINE float tg_special_chebyshev_polynomial_vf(float x, float n) { return (float)tg_special_chebyshev_polynomial_v((double)x, (double)n); }

TG_SPECIAL double tg_special_shifted_chebyshev_polynomial_v(double x, double n)
{
    const double v1 = trunc(n);
    const double v2 = x + x;
    const double v3 = v2 - 1.0;
    const double v4 = v3 + v3;
    const double v5 = v4 - 1.0;
    const int is6 = v1 >= 2.0;
    const int is7 = v1 <= 16384.0;
    const int is8 = is6 & is7;
    const double v9 = is8 ? v1 : 0.0;
    double s10_0 = 1.0;
    double s10_1 = v5;
    for (int k10 = 0; k10 < 16384; ++k10)
    {
        const double v11 = (double)k10 + 2.0;
        const int is12 = v11 < v9;
        const double v14 = x + x;
        const double v15 = v14 - 1.0;
        const double v16 = v15 + v15;
        const double v17 = v16 * s10_1;
        const double v18 = v17 - s10_0;
        const double v19 = s10_1;
        s10_0 = v19;
        s10_1 = v18;
        if (!is12)
            break;
    }
    const int is20 = v1 == 1.0;
    const int is21 = v1 == 0.0;
    const int is22 = v1 > 16384.0;
    const double v23 = is22 ? NAN : 0.0;
    const double v24 = is21 ? 1.0 : v23;
    const double v25 = is20 ? v5 : v24;
    const double v26 = is8 ? s10_1 : v25;
    return v26;
}
TG_INLINE float tg_special_shifted_chebyshev_polynomial_vf(float x, float n) { return (float)tg_special_shifted_chebyshev_polynomial_v((double)x, (double)n); }

TG_SPECIAL double tg_special_chebyshev_polynomial_w(double x, double n)
{
    const double v1 = trunc(n);
    const double v2 = x + x;
    const double v3 = v2 + 1.0;
    const int is4 = v1 >= 2.0;
    const int is5 = v1 <= 16384.0;
    const int is6 = is4 & is5;
    const double v7 = is6 ? v1 : 0.0;
    double s8_0 = 1.0;
    double s8_1 = v3;
    for (int k8 = 0; k8 < 16384; ++k8)
    {
        const double v9 = (double)k8 + 2.0;
        const int is10 = v9 < v7;
        const double v12 = x + x;
        const double v13 = v12 * s8_1;
        const double v14 = v13 - s8_0;
        const double v15 = s8_1;
        s8_0 = v15;
        s8_1 = v14;
        if (!is10)
            break;
    }
    const int is16 = v1 == 1.0;
    const int is17 = v1 == 0.0;
    const int is18 = v1 > 16384.0;
    const double v19 = is18 ? NAN : 0.0;
    const double v20 = is17 ? 1.0 : v19;
    const double v21 = is16 ? v3 : v20;
    const double v22 = is6 ? s8_1 : v21;
    return v22;
}
TG_INLINE float tg_special_chebyshev_polynomial_wf(float x, float n) { return (float)tg_special_chebyshev_polynomial_w((double)x, (double)n); }

TG_SPECIAL double tg_special_shifted_chebyshev_polynomial_w(double x, double n)
{
    const double v1 = trunc(n);
    const double v2 = x + x;
    const double v3 = v2 - 1.0;
    const double v4 = v3 + v3;
    const double v5 = v4 + 1.0;
    const int is6 = v1 >= 2.0;
    const int is7 = v1 <= 16384.0;
    const int is8 = is6 & is7;
    const double v9 = is8 ? v1 : 0.0;
    double s10_0 = 1.0;
    double s10_1 = v5;
    for (int k10 = 0; k10 < 16384; ++k10)
    {
        const double v11 = (double)k10 + 2.0;
        const int is12 = v11 < v9;
        const double v14 = x + x;
        const double v15 = v14 - 1.0;
        const double v16 = v15 + v15;
        const double v17 = v16 * s10_1;
        const double v18 = v17 - s10_0;
        const double v19 = s10_1;
        s10_0 = v19;
        s10_1 = v18;
        if (!is12)
            break;
    }
    const int is20 = v1 == 1.0;
    const int is21 = v1 == 0.0;
    const int is22 = v1 > 16384.0;
    const double v23 = is22 ? NAN : 0.0;
    const double v24 = is21 ? 1.0 : v23;
    const double v25 = is20 ? v5 : v24;
    const double v26 = is8 ? s10_1 : v25;
    return v26;
}
TG_INLINE float tg_special_shifted_chebyshev_polynomial_wf(float x, float n) { return (float)tg_special_shifted_chebyshev_polynomial_w((double)x, (double)n); }

TG_SPECIAL double tg_special_hermite_polynomial_h(double x, double n)
{
    const double v1 = trunc(n);
    const double v2 = x + x;
    const int is3 = v1 >= 2.0;
    const int is4 = v1 <= 16384.0;
    const int is5 = is3 & is4;
    const double v6 = is5 ? v1 : 0.0;
    double s7_0 = 1.0;
    double s7_1 = v2;
    for (int k7 = 0; k7 < 16384; ++k7)
    {
        const double v8 = (double)k7 + 2.0;
        const int is9 = v8 < v6;
        const double v10 = (double)k7 + 1.0;
        const double v11 = x + x;
        const double v12 = v11 * s7_1;
        const double v13 = v10 + v10;
        const double v14 = v13 * s7_0;
        const double v15 = v12 - v14;
        const double v16 = s7_1;
        s7_0 = v16;
        s7_1 = v15;
        if (!is9)
            break;
    }
    const int is17 = v1 == 1.0;
    const int is18 = v1 == 0.0;
    const int is19 = v1 > 16384.0;
    const double v20 = is19 ? NAN : 0.0;
    const double v21 = is18 ? 1.0 : v20;
    const double v22 = is17 ? v2 : v21;
    const double v23 = is5 ? s7_1 : v22;
    return v23;
}
TG_INLINE float tg_special_hermite_polynomial_hf(float x, float n) { return (float)tg_special_hermite_polynomial_h((double)x, (double)n); }

TG_SPECIAL double tg_special_hermite_polynomial_he(double x, double n)
{
    const double v1 = trunc(n);
    const int is2 = v1 >= 2.0;
    const int is3 = v1 <= 16384.0;
    const int is4 = is2 & is3;
    const double v5 = is4 ? v1 : 0.0;
    double s6_0 = 1.0;
    double s6_1 = x;
    for (int k6 = 0; k6 < 16384; ++k6)
    {
        const double v7 = (double)k6 + 2.0;
        const int is8 = v7 < v5;
        const double v9 = (double)k6 + 1.0;
        const double v10 = x * s6_1;
        const double v11 = v9 * s6_0;
        const double v12 = v10 - v11;
        const double v13 = s6_1;
        s6_0 = v13;
        s6_1 = v12;
        if (!is8)
            break;
    }
    const int is14 = v1 == 1.0;
    const int is15 = v1 == 0.0;
    const int is16 = v1 > 16384.0;
    const double v17 = is16 ? NAN : 0.0;
    const double v18 = is15 ? 1.0 : v17;
    const double v19 = is14 ? x : v18;
    const double v20 = is4 ? s6_1 : v19;
    return v20;
}
TG_INLINE float tg_special_hermite_polynomial_hef(float x, float n) { return (float)tg_special_hermite_polynomial_he((double)x, (double)n); }

TG_SPECIAL double tg_special_laguerre_polynomial_l(double x, double n)
{
    const double v1 = trunc(n);
    const double v2 = 1.0 - x;
    const int is3 = v1 >= 2.0;
    const int is4 = v1 <= 16384.0;
    const int is5 = is3 & is4;
    const double v6 = is5 ? v1 : 0.0;
    double s7_0 = 1.0;
    double s7_1 = v2;
    for (int k7 = 0; k7 < 16384; ++k7)
    {
        const double v8 = (double)k7 + 2.0;
        const int is9 = v8 < v6;
        const double v10 = (double)k7 + 1.0;
        const double v11 = v10 + v10;
        const double v12 = v11 + 1.0;
        const double v13 = v12 - x;
        const double v14 = v13 * s7_1;
        const double v15 = v10 * s7_0;
        const double v16 = v14 - v15;
        const double v17 = v10 + 1.0;
        const double v18 = v16 / v17;
        const double v19 = s7_1;
        s7_0 = v19;
        s7_1 = v18;
        if (!is9)
            break;
    }
    const int is20 = v1 == 1.0;
    const int is21 = v1 == 0.0;
    const int is22 = v1 > 16384.0;
    const double v23 = is22 ? NAN : 0.0;
    const double v24 = is21 ? 1.0 : v23;
    const double v25 = is20 ? v2 : v24;
    const double v26 = is5 ? s7_1 : v25;
    return v26;
}
TG_INLINE float tg_special_laguerre_polynomial_lf(float x, float n) { return (float)tg_special_laguerre_polynomial_l((double)x, (double)n); }

TG_SPECIAL double tg_special_legendre_polynomial_p(double x, double n)
{
    const double v1 = trunc(n);
    const int is2 = v1 >= 2.0;
    const int is3 = v1 <= 16384.0;
    const int is4 = is2 & is3;
    const double v5 = is4 ? v1 : 0.0;
    double s6_0 = 1.0;
    double s6_1 = x;
    for (int k6 = 0; k6 < 16384; ++k6)
    {
        const double v7 = (double)k6 + 2.0;
        const int is8 = v7 < v5;
        const double v9 = (double)k6 + 1.0;
        const double v10 = v9 + v9;
        const double v11 = v10 + 1.0;
        const double v12 = v11 * x;
        const double v13 = v12 * s6_1;
        const double v14 = v9 * s6_0;
        const double v15 = v13 - v14;
        const double v16 = v9 + 1.0;
        const double v17 = v15 / v16;
        const double v18 = s6_1;
        s6_0 = v18;
        s6_1 = v17;
        if (!is8)
            break;
    }
    const int is19 = v1 == 1.0;
    const int is20 = v1 == 0.0;
    const int is21 = v1 > 16384.0;
    const double v22 = is21 ? NAN : 0.0;
    const double v23 = is20 ? 1.0 : v22;
    const double v24 = is19 ? x : v23;
    const double v25 = is4 ? s6_1 : v24;
    return v25;
}
TG_INLINE float tg_special_legendre_polynomial_pf(float x, float n) { return (float)tg_special_legendre_polynomial_p((double)x, (double)n); }

#endif
